#pragma once

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>

namespace blockspan {

/// The sparse matrix of Blockspan is the compressed-row matrix of Kokkos Kernels, so that matrices
/// of Kokkos users need no conversion. Columns within a row may be unsorted and may repeat
/// (repeated entries add up). Offset: type of the row offsets, 32 or 64 bits.
template <class Scalar, class Exec, class Offset = int, class Ordinal = int>
using CrsMatrix =
    KokkosSparse::CrsMatrix<Scalar, Ordinal, Kokkos::Device<Exec, typename Exec::memory_space>,
                            void, Offset>;

}  // namespace blockspan
