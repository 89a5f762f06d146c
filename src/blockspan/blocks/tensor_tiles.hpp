#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/real_view.hpp>

// Tiles of the dense products on tensor cores in double precision: 16 x 4 times 4 x 8 scalars an
// instruction (on Hopper twice the throughput of 8 x 4 times 4 x 8, the only shape of Ampere). The
// fragments of a warp of 32 lanes: lane l holds A(l / 4, l % 4) and A(8 + l / 4, l % 4), B(l % 4, l
// / 4), and C(l / 4, 2 (l % 4)), its right neighbour and both again 8 rows below. Any order of the
// inner index is valid if A and B agree in it; so is any order of the rows of A and the columns of
// B.

namespace blockspan::blocks::tensor {

inline constexpr int warps = 8;  ///< of a team
inline constexpr int lanes = 32;
inline constexpr int threads = warps * lanes;
inline constexpr int tile_rows = 16, tile_columns = 8;  ///< of the result
inline constexpr int tile_inner = 4;
inline constexpr std::size_t most_scratch = 40 << 10;  ///< bytes of a team: Kokkos allows 48 KiB

/// Whether blocks of Real are multiplied on tensor cores by this backend.
#if defined(KOKKOS_ARCH_AMPERE80) || defined(KOKKOS_ARCH_HOPPER90) || \
    defined(KOKKOS_ARCH_BLACKWELL100)
template <class Exec, class Real>
inline constexpr bool available = std::is_same_v<Exec, Kokkos::Cuda>&& std::is_same_v<Real, double>;
#else
template <class Exec, class Real>
inline constexpr bool available = false;
#endif

// The bodies below are empty except in code for CUDA devices: only kernels launched there call
// them.

/// C += A B of one tile; the arguments are the fragments of this lane.
KOKKOS_FORCEINLINE_FUNCTION void multiply_add([[maybe_unused]] double const (&a)[2],
                                              [[maybe_unused]] double b,
                                              [[maybe_unused]] double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#elif defined(__CUDA_ARCH__)
  for (int half = 0; half < 2; ++half)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
        : "d"(a[half]), "d"(b));
#endif
}

/// The same for 8 rows of A and C, the upper half of a tile.
KOKKOS_FORCEINLINE_FUNCTION void multiply_add([[maybe_unused]] double const (&a)[1],
                                              [[maybe_unused]] double b,
                                              [[maybe_unused]] double (&c)[2]) {
#if defined(__CUDA_ARCH__)
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a[0]), "d"(b));
#endif
}

/// Shared-memory address of scratch, for copy_pair and copy_scalar.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t scratch_address([[maybe_unused]] double const* place) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
#else
  return 0;
#endif
}

/// Starts an asynchronous copy of two scalars to scratch, both addresses aligned to 16 bytes: the
/// first `bytes` from memory, zeros for the rest. The data is visible to this thread after
/// wait_for_copies, and to the team after a barrier behind it.
KOKKOS_FORCEINLINE_FUNCTION void copy_pair([[maybe_unused]] std::uint32_t to,
                                           [[maybe_unused]] double const* from,
                                           [[maybe_unused]] int bytes) {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
#endif
}

/// Starts an asynchronous copy of one scalar to scratch (bytes: 8), or of a zero (bytes: 0).
KOKKOS_FORCEINLINE_FUNCTION void copy_scalar([[maybe_unused]] std::uint32_t to,
                                             [[maybe_unused]] double const* from,
                                             [[maybe_unused]] int bytes) {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
#endif
}

/// Ends a group of copies.
KOKKOS_FORCEINLINE_FUNCTION void commit_copies() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all groups of copies but the latest N.
template <int N>
KOKKOS_FORCEINLINE_FUNCTION void wait_for_copies() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

struct alignas(16) Pair {
  double first, second;
};

/// A block of reals whose rows are contiguous and begin at 16-byte boundaries.
struct Rows {
  double const* data;
  std::int64_t stride;
  int columns;

  /// Columns `column` (even) and column + 1 of a row, zeros outside the block.
  KOKKOS_FORCEINLINE_FUNCTION Pair pair(std::int64_t row, int column, bool inside) const {
    double const* const at = data + row * stride + column;
    if (!inside || column >= columns) return {0, 0};
    if (column + 1 < columns) return *reinterpret_cast<Pair const*>(at);
    return {*at, 0};
  }
};

/// True if the kernels here can read (or write) the block.
template <class Scalar>
bool fits(RealView<Scalar> const& X) {
  if constexpr (std::is_same_v<real_t<Scalar>, double>)
    return X.rows_contiguous() && X.row_stride % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(X.data) % sizeof(Pair) == 0;
  else
    return false;
}

template <class Scalar>
Rows rows_of(RealView<Scalar> const& X) {
  return {X.data, X.row_stride, X.columns};
}

}  // namespace blockspan::blocks::tensor
