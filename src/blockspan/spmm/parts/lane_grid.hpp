#pragma once

#include <bit>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::products {

/// How the vector lanes of a team thread are laid over a row: 2^column_bits of them over the
/// columns of X, times 2^entry_bits over the nonzeros, which alternate among them. Lanes over
/// nonzeros read the matrix coalesced where few columns leave lanes idle, and share the work of
/// long rows.
struct LaneGrid {
  int column_bits = 0;
  int entry_bits = 0;

  KOKKOS_FORCEINLINE_FUNCTION int columns() const { return 1 << column_bits; }
  KOKKOS_FORCEINLINE_FUNCTION int entries() const { return 1 << entry_bits; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << (column_bits + entry_bits); }
  KOKKOS_FORCEINLINE_FUNCTION int column_of(int lane) const { return lane & (columns() - 1); }
  KOKKOS_FORCEINLINE_FUNCTION int entry_of(int lane) const { return lane >> column_bits; }
};

/// Whether lanes of a team thread can exchange values on this backend; elsewhere all lanes are
/// over the columns.
template <class Exec>
inline constexpr bool lanes_exchange_v = on_cuda_v<Exec>;

inline constexpr int warp_lanes = 32;

/// The index of a lane among all lanes of its team.
KOKKOS_FORCEINLINE_FUNCTION int place_in_team() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.x + blockDim.x * threadIdx.y);
#else
  return 0;
#endif
}

#if defined(__CUDA_ARCH__)
/// The lanes of the own thread within its warp: threads that share the warp may be elsewhere.
KOKKOS_FORCEINLINE_FUNCTION unsigned own_lanes(int lanes) {
  if (lanes == 32) return 0xffffffffu;
  return ((1u << lanes) - 1u) << (place_in_team() & 31 & ~(lanes - 1));
}
#endif

/// f(lane) on each of the vector lanes of a team thread, of which there are `lanes`: as
/// ThreadVectorRange, whose loop and barrier are 50 of the 500 instructions of a short row.
/// Together: the lanes converge in the end, without a condition. One H200, microseconds with
/// ThreadVectorRange, without a barrier, with this one: 27-point 96^3 n = 8 171, 180, 167; 7-point
/// 128^3 n = 8 166, 160, 164.
template <bool Together, class Team, class Function>
KOKKOS_FORCEINLINE_FUNCTION void for_each_lane(Team const& team, int lanes, Function const& f) {
#if defined(__CUDA_ARCH__)
  (void)team;
  f(static_cast<int>(threadIdx.x));
  if constexpr (Together) __syncwarp(own_lanes(lanes));
#else
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), f);
#endif
}

/// The value of the lane whose index differs in the bits of `mask`; all lanes of the thread call
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

/// True on all threads of a warp if `value` is on one of them; all of them call it.
KOKKOS_FORCEINLINE_FUNCTION bool any_in_warp(bool value) {
#if defined(__CUDA_ARCH__)
  return __any_sync(0xffffffffu, value) != 0;
#else
  return value;
#endif
}

/// The lanes of a thread with a whole warp on which `value` is true, as bits; all of them call it.
KOKKOS_FORCEINLINE_FUNCTION unsigned lanes_with(bool value) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, value);
#else
  return value ? 1 : 0;
#endif
}

/// The place of the n-th bit that is set, counted from 0; there must be more than n.
KOKKOS_FORCEINLINE_FUNCTION int nth_bit(unsigned bits, int n) {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(__fns(bits, 0, n + 1));
#else
  for (; n > 0; --n) bits &= bits - 1;
  return std::countr_zero(bits);
#endif
}

/// The value of lane `from`; all lanes of the thread call it.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar broadcast(Scalar const& value, int from, int lanes) {
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

}  // namespace blockspan::products
