#pragma once

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>

namespace blockspan {

/// The sparse matrix of Blockspan is Kokkos Kernels' compressed-row matrix, so that every Kokkos
/// user's matrix fits as it is. Columns within a row may be unsorted and may repeat (repeated
/// entries add up). Offset: type of the row offsets, 32 or 64 bits.
template <class Scalar, class Exec, class Offset = int, class Ordinal = int>
using CrsMatrix =
    KokkosSparse::CrsMatrix<Scalar, Ordinal, Kokkos::Device<Exec, typename Exec::memory_space>,
                            void, Offset>;

}  // namespace blockspan
