#pragma once

#include <KokkosSparse_BsrMatrix.hpp>
#include <Kokkos_Core.hpp>

namespace blockspan {

/// Kokkos Kernels' matrix of dense square blocks of one size, for discretizations with several
/// unknowns a node. Its values are stored block after block, each row-major. Products support it
/// (spmm, spmm_dots); block columns within a block row may be unsorted and may repeat.
template <class Scalar, class Exec, class Offset = int, class Ordinal = int>
using BsrMatrix = KokkosSparse::Experimental::BsrMatrix<
    Scalar, Ordinal, Kokkos::Device<Exec, typename Exec::memory_space>, void, Offset>;

}  // namespace blockspan
