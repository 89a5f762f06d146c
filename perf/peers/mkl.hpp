#pragma once

#include <vector>

#include "peers/contender.hpp"

namespace blockspan::perf {

/// Intel oneMKL's product of a CSR matrix with a dense one of either order (mkl_sparse_*_mm), as it
/// is and after mkl_sparse_optimize, on hosts, in builds that found it; none elsewhere. The setup
/// is the handle's, with what optimize takes. Compiled for float, double and Kokkos::complex of
/// both.
template <class Scalar>
std::vector<Contender> mkl_contenders(Operands<Scalar> const& with);

}  // namespace blockspan::perf
