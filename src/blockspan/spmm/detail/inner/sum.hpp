#pragma once

#include <Kokkos_Core.hpp>

namespace blockspan::detail {

/// The sums of `Width` neighbouring columns of one row.
template <class Scalar, int Width>
struct Sum {
  Scalar value[Width];
};

}  // namespace blockspan::detail
