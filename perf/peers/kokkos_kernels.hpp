#pragma once

#include <vector>

#include "peers/contender.hpp"

namespace blockspan::perf {

/// KokkosSparse::spmv on rank-2 views, each with a handle of its own: the native path in both
/// orders, the native merge path for one column, and on CUDA, in builds of Kokkos Kernels with
/// cuSPARSE, its vendor path, which exists for column-major blocks only. The setup is the handle's;
/// what the handle prepares on its first product is not in it. Compiled for the build's scalars.
template <class Scalar>
std::vector<Contender> kokkos_kernels_contenders(Operands<Scalar> const& with);

}  // namespace blockspan::perf
