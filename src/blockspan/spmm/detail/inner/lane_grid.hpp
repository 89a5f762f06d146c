#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// How the vector lanes of a team thread stand over a row: 2^column_bits of them side by side over
/// the columns of X, times 2^entry_bits over the nonzeros, which they take in turn. Together they
/// are the vector length. Lanes over nonzeros read the matrix coalesced where few columns leave
/// lanes idle, and share the work of long rows.
struct LaneGrid {
  int column_bits = 0;
  int entry_bits = 0;

  KOKKOS_FORCEINLINE_FUNCTION int columns() const { return 1 << column_bits; }
  KOKKOS_FORCEINLINE_FUNCTION int entries() const { return 1 << entry_bits; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << (column_bits + entry_bits); }
  KOKKOS_FORCEINLINE_FUNCTION int column_of(int lane) const { return lane & (columns() - 1); }
  KOKKOS_FORCEINLINE_FUNCTION int entry_of(int lane) const { return lane >> column_bits; }
};

/// Whether lanes of a team thread can exchange numbers on this backend; elsewhere all lanes stand
/// over the columns.
template <class Exec>
inline constexpr bool lanes_exchange_v =
#if defined(KOKKOS_ENABLE_CUDA)
    std::is_same_v<Exec, Kokkos::Cuda>;
#else
    false;
#endif

/// The value of the lane whose number differs in the bits of `mask`; all lanes of the thread call
/// it.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real exchange(Real const& value, int mask, int lanes) {
#if defined(__CUDA_ARCH__)
  // threads that share a warp may be elsewhere: only the own vector takes part
  unsigned const own = lanes == 32
                           ? 0xffffffffu
                           : ((1u << lanes) - 1u)
                                 << ((threadIdx.x + blockDim.x * threadIdx.y) % 32u /
                                     static_cast<unsigned>(lanes) * static_cast<unsigned>(lanes));
  return __shfl_xor_sync(own, value, mask, lanes);
#else
  (void)mask, (void)lanes;
  return value;
#endif
}

template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::complex<Real> exchange(Kokkos::complex<Real> const& value,
                                                           int mask, int lanes) {
  return {exchange(value.real(), mask, lanes), exchange(value.imag(), mask, lanes)};
}

/// Adds up what the lanes over the nonzeros have, by a butterfly: the order is fixed, and all of
/// them get the same bits.
template <class Scalar, int Width>
KOKKOS_FORCEINLINE_FUNCTION void add_entry_lanes(LaneGrid const& grid, Sum<Scalar, Width>& sum) {
  for (int mask = grid.columns(); mask < grid.lanes(); mask *= 2)
    for (int j = 0; j < Width; ++j) sum.value[j] += exchange(sum.value[j], mask, grid.lanes());
}

}  // namespace blockspan::detail
