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

#if defined(__CUDA_ARCH__)
/// The lanes of the own thread within its warp: threads that share the warp may be elsewhere.
KOKKOS_FORCEINLINE_FUNCTION unsigned own_lanes(int lanes) {
  auto const count = static_cast<unsigned>(lanes);
  if (count == 32) return 0xffffffffu;
  return ((1u << count) - 1u) << ((threadIdx.x + blockDim.x * threadIdx.y) % 32u / count * count);
}
#endif

/// The value of the lane whose number differs in the bits of `mask`; all lanes of the thread call
/// it.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real exchange(Real const& value, int mask, int lanes) {
#if defined(__CUDA_ARCH__)
  return __shfl_xor_sync(own_lanes(lanes), value, mask, lanes);
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

/// The value of lane `from`; all lanes of the thread call it.
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION Number broadcast(Number const& value, int from, int lanes) {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(own_lanes(lanes), value, from, lanes);
#else
  (void)from, (void)lanes;
  return value;
#endif
}

template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::complex<Real> broadcast(Kokkos::complex<Real> const& value,
                                                            int from, int lanes) {
  return {broadcast(value.real(), from, lanes), broadcast(value.imag(), from, lanes)};
}

/// Adds up what the lanes over the nonzeros have, by a butterfly: the order is fixed, and all of
/// them get the same bits.
template <class Scalar, int Width>
KOKKOS_FORCEINLINE_FUNCTION void add_entry_lanes(LaneGrid const& grid, Sum<Scalar, Width>& sum) {
  for (int mask = grid.columns(); mask < grid.lanes(); mask *= 2)
    for (int j = 0; j < Width; ++j) sum.value[j] += exchange(sum.value[j], mask, grid.lanes());
}

}  // namespace blockspan::detail
