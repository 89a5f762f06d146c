#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/detail/block_jacobi.hpp>
#include <blockspan/operators/detail/block_sizes_impl.hpp>
#include <blockspan/operators/detail/small_hermitian.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

template <class Scalar, class Offset, class Ordinal>
struct GatherBlocks {
  MatrixRef<Scalar, Offset, Ordinal> A;
  int b;
  Scalar* blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Scalar* const out = blocks + row * b;
    for (int c = 0; c < b; ++c) out[c] = Scalar(0);
    std::int64_t const first = row / b * b;
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k) {
      std::int64_t const c = static_cast<std::int64_t>(A.pattern.column_indices[k]) - first;
      if (c >= 0 && c < b) out[c] += A.values[k];
    }
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
void gather_blocks(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A, int b,
                   Scalar* blocks) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("Blockspan::block_jacobi_gather", Policy(exec, 0, A.pattern.rows),
                       GatherBlocks<Scalar, Offset, Ordinal>{A, b, blocks});
}

template <class Scalar>
struct InvertBlocks {
  using value_type = BlockFaults;

  std::int64_t rows;
  int b;
  bool absolute;
  Scalar* blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t block, BlockFaults& faults) const {
    std::int64_t const first = block * b;
    Scalar* const entries = blocks + first * b;
    SmallHermitian<Scalar> B;
    B.order = static_cast<int>(rows - first < b ? rows - first : b);
    for (int i = 0; i < B.order; ++i)
      for (int j = 0; j < B.order; ++j) B.a[i][j] = entries[i * b + j];
    if (!B.is_finite()) return join(faults, BlockFaults{first, -1, 0});
    B.balance();
    if (!B.invert_definite()) {
      join(faults, BlockFaults{-1, first, 1});
      if (!absolute) return;
      B.invert_absolute();
    }
    for (int i = 0; i < B.order; ++i)
      for (int j = 0; j < B.order; ++j) entries[i * b + j] = B.inverse(i, j);
  }

  KOKKOS_FUNCTION void init(BlockFaults& faults) const { faults = BlockFaults{}; }
  KOKKOS_FUNCTION void join(BlockFaults& all, BlockFaults const& some) const {
    all.not_finite_row = earlier(all.not_finite_row, some.not_finite_row);
    all.indefinite_row = earlier(all.indefinite_row, some.indefinite_row);
    all.indefinite += some.indefinite;
  }
  KOKKOS_FUNCTION static std::int64_t earlier(std::int64_t row, std::int64_t other) {
    return row < 0 || (other >= 0 && other < row) ? other : row;
  }
};

template <class Exec, class Scalar>
BlockFaults invert_blocks(Exec const& exec, std::int64_t rows, int b, bool absolute,
                          Scalar* blocks) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  BlockFaults faults;
  if (rows > 0)
    Kokkos::parallel_reduce("Blockspan::block_jacobi_invert",
                            Policy(exec, 0, ceil_div<std::int64_t>(rows, b)),
                            InvertBlocks<Scalar>{rows, b, absolute, blocks}, faults);
  return faults;
}

/// Rows of blocks times columns of X, both contiguous along their rows. b at compile time, so that
/// a sum is a straight line of code.
template <class Scalar, int b>
struct ApplyBlocks {
  struct ByEntry {};
  struct ByBlock {};

  Scalar const* blocks;
  Scalar const* x;
  Scalar* y;
  std::int64_t rows, columns, x_stride, y_stride;

  /// Devices: one entry of Y a work item; the b entries of X come from the cache but for the first
  /// time.
  KOKKOS_FUNCTION void operator()(ByEntry, std::int64_t item) const {
    std::int64_t const i = item / columns, j = item % columns, first = i / b * b;
    row(i, first, j, j + 1);
  }

  /// Hosts: a block a work item, vectorised along the columns.
  KOKKOS_FUNCTION void operator()(ByBlock, std::int64_t block) const {
    std::int64_t const first = block * b;
    for (std::int64_t i = first; i < first + b && i < rows; ++i) row(i, first, 0, columns);
  }

  KOKKOS_FORCEINLINE_FUNCTION void row(std::int64_t i, std::int64_t first, std::int64_t j,
                                       std::int64_t last) const {
    if (first + b <= rows)
      multiply<true>(i, first, j, last);
    else
      multiply<false>(i, first, j, last);
  }

  /// Of a whole block the compiler knows the size.
  template <bool whole>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(std::int64_t i, std::int64_t first, std::int64_t j,
                                            std::int64_t last) const {
    int const size = whole ? b : static_cast<int>(rows - first);
    Scalar const* KOKKOS_RESTRICT const factors = blocks + i * b;
    Scalar const* KOKKOS_RESTRICT const from = x + first * x_stride;
    Scalar* KOKKOS_RESTRICT const to = y + i * y_stride;
    for (; j < last; ++j) {
      Scalar sum = factors[0] * from[j];
      for (int c = 1; c < size; ++c) sum += factors[c] * from[c * x_stride + j];
      to[j] = sum;
    }
  }
};

template <int b, class Exec, class Scalar>
void apply_blocks_of(Exec const& exec, Scalar const* blocks, BlockRef<Scalar const> const& X,
                     BlockRef<Scalar> const& Y) {
  using Kernel = ApplyBlocks<Scalar, b>;
  constexpr bool on_host = runs_on_host_v<Exec>;
  using Tag = std::conditional_t<on_host, typename Kernel::ByBlock, typename Kernel::ByEntry>;
  std::int64_t const items = on_host ? ceil_div<std::int64_t>(X.rows, b) : X.rows * X.columns;
  Kokkos::parallel_for(
      "Blockspan::block_jacobi",
      Kokkos::RangePolicy<Exec, Tag, Kokkos::IndexType<std::int64_t>>(exec, 0, items),
      Kernel{blocks, X.data, Y.data, X.rows, X.columns, X.row_stride, Y.row_stride});
}

template <class Exec, class Scalar>
void apply_blocks(Exec const& exec, int b, Scalar const* blocks, BlockRef<Scalar const> const& X,
                  BlockRef<Scalar> const& Y) {
  if (X.rows == 0 || X.columns == 0) return;
  // clang-format off
  switch (b) {
    case 1: return apply_blocks_of<1>(exec, blocks, X, Y);
    case 2: return apply_blocks_of<2>(exec, blocks, X, Y);
    case 3: return apply_blocks_of<3>(exec, blocks, X, Y);
    case 4: return apply_blocks_of<4>(exec, blocks, X, Y);
    case 5: return apply_blocks_of<5>(exec, blocks, X, Y);
    case 6: return apply_blocks_of<6>(exec, blocks, X, Y);
    case 7: return apply_blocks_of<7>(exec, blocks, X, Y);
    default: return apply_blocks_of<8>(exec, blocks, X, Y);
  }
  // clang-format on
}

}  // namespace blockspan::detail
