#pragma once

#include <blockspan/published/detail/dense_product.hpp>
#include <blockspan/published/detail/launch_published.hpp>
#include <blockspan/spmm/detail/published_kernels.hpp>

namespace blockspan::detail {

/// Enters the kernels for these types into the table of the core.
template <class Exec, class Scalar, class Ordinal>
void register_published_kernels() {
  using Table = PublishedKernels<Exec, Scalar, Ordinal>;
  Table::launch = launch_published<SpmmCall<Exec, Scalar, Ordinal>>;
  Table::multiply_dense = multiply_dense<Exec, Scalar, Ordinal>;
}

}  // namespace blockspan::detail
