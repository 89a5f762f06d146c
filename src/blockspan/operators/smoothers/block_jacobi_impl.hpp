#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/operators/smoothers/block_jacobi.hpp>
#include <blockspan/operators/smoothers/small_hermitian.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::operators {

/// How well tiles of b x b entries fill a sample of the rows of a matrix, for every block size b.
/// Host code.
template <class Offset, class Ordinal>
class TileSample {
 public:
  static constexpr int largest = 8;
  /// Rows that are added as one segment: a multiple of every block size.
  static constexpr std::int64_t window = 840;

  TileSample(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}

  /// Adds the rows from first_row on, a multiple of the window; offsets: number of rows + 1.
  void add(std::int64_t first_row, std::vector<Offset> offsets, std::vector<Ordinal> indices) {
    windows_.push_back({first_row, std::move(offsets), std::move(indices)});
  }

  /// The share of the entries of b x b tiles that are stored; or only an upper bound of it, if that
  /// is below two thirds: counting tiles is slow, and most matrices have no blocks.
  template <int b>
  double fill() {
    std::int64_t entries = 0, least = 0;
    for (auto const& rows : windows_) {
      entries += static_cast<std::int64_t>(rows.indices.size());
      least += for_groups<b>(rows, [&](auto const& group) { return least_area(group); });
    }
    if (3 * entries < 2 * least) return static_cast<double>(entries) / static_cast<double>(least);
    if (stored_ < 0) stored_ = area<1>();
    auto const all = area<b>();
    return all > 0 ? static_cast<double>(stored_) / static_cast<double>(all) : 0;
  }

 private:
  struct Window {
    std::int64_t first_row;
    std::vector<Offset> offsets;
    std::vector<Ordinal> indices;

    std::size_t entry(std::int64_t row) const {
      return static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)] - offsets[0]);
    }
  };
  /// Rows begin <= i < end of a window, which share tiles of `height` rows. b: a compile-time
  /// constant, for fast division.
  template <int b>
  struct Group {
    Window const& rows;
    std::int64_t begin, end, height;

    std::int64_t tile_of(std::size_t k) const {
      return static_cast<std::int64_t>(rows.indices[k]) / b;
    }
    std::int64_t area_of_tile(std::int64_t tile, std::int64_t columns) const {
      return height * std::min<std::int64_t>(b, columns - tile * b);
    }
  };
  struct Tile {
    std::int64_t stamp = 0, number = 0;
  };

  template <int b, class Area>
  std::int64_t for_groups(Window const& rows, Area const& area) {
    auto const count = static_cast<std::int64_t>(rows.offsets.size()) - 1;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; i += b)
      sum += area(Group<b>{rows, i, std::min(i + b, count),
                           std::min<std::int64_t>(b, rows_ - rows.first_row - i)});
    return sum;
  }

  template <int b>
  std::int64_t area() {
    std::int64_t sum = 0;
    for (auto const& rows : windows_)
      sum += for_groups<b>(rows, [&](auto const& group) { return area_of(group); });
    return sum;
  }

  /// A lower bound of the area of all tiles: the largest area of the tiles of a single row; 0 if
  /// the columns of a row are not sorted.
  template <int b>
  std::int64_t least_area(Group<b> const& group) const {
    std::int64_t most = 0;
    for (std::int64_t row = group.begin; row < group.end; ++row) {
      std::int64_t area = 0, tile = -1;
      for (std::size_t k = group.rows.entry(row); k < group.rows.entry(row + 1); ++k) {
        std::int64_t const next = group.tile_of(k);
        if (next < tile) return 0;
        if (next > tile) area += group.area_of_tile(next, columns_);
        tile = next;
      }
      most = std::max(most, area);
    }
    return most;
  }

  template <int b>
  std::int64_t area_of(Group<b> const& group) {
    if constexpr (b == 1)
      if (auto const exact = least_area(group)) return exact;
    std::size_t const first = group.rows.entry(group.begin), last = group.rows.entry(group.end);
    ++stamp_;
    if (seen_.size() < 2 * (last - first)) seen_.resize(std::bit_ceil(2 * (last - first)));
    std::int64_t area = 0;
    for (std::size_t k = first; k < last; ++k) {
      std::int64_t const tile = group.tile_of(k);
      if (is_new(tile)) area += group.area_of_tile(tile, columns_);
    }
    return area;
  }

  /// Whether the current group of rows meets the tile for the first time. By a hash table that fits
  /// into the cache, whatever the number of columns.
  bool is_new(std::int64_t tile) {
    std::size_t const mask = seen_.size() - 1;
    auto place =
        static_cast<std::size_t>(static_cast<std::uint64_t>(tile) * 0x9E3779B97F4A7C15u >> 32) &
        mask;
    while (seen_[place].stamp == stamp_) {
      if (seen_[place].number == tile) return false;
      place = (place + 1) & mask;
    }
    seen_[place] = {stamp_, tile};
    return true;
  }

  std::int64_t rows_, columns_;
  std::vector<Window> windows_;
  std::vector<Tile> seen_;    ///< at least twice the entries of a group of rows, a power of two
  std::int64_t stamp_ = 0;    ///< of the current group
  std::int64_t stored_ = -1;  ///< distinct entries of the sample; -1: not counted yet
};

/// Copies `count` values from `first` on, in device memory, to the host.
template <class Exec, class T>
std::vector<T> fetched(Exec const& exec, T const* first, std::int64_t count) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, numbers.data(), first,
                                                                      count);
  exec.fence("Blockspan::find_block_size");
  return numbers;
}

template <class Exec, class Scalar, class Offset, class Ordinal>
int find_block_size(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Sample = TileSample<std::remove_const_t<Offset>, std::remove_const_t<Ordinal>>;
  constexpr std::int64_t most_windows = 8;
  auto const& pattern = A.pattern;
  Sample tiles(pattern.rows, pattern.columns);
  std::int64_t const windows = ceil_div(pattern.rows, Sample::window);
  std::int64_t const sampled = std::min(windows, most_windows);
  for (std::int64_t s = 0; s < sampled; ++s) {
    std::int64_t const row = s * windows / sampled * Sample::window;
    auto offsets =
        fetched(exec, pattern.row_offsets + row, std::min(Sample::window, pattern.rows - row) + 1);
    auto indices = fetched(exec, pattern.column_indices + offsets.front(),
                           static_cast<std::int64_t>(offsets.back() - offsets.front()));
    tiles.add(row, std::move(offsets), std::move(indices));
  }
  std::array<double, Sample::largest + 1> fill{};
  [&]<std::size_t... less>(std::index_sequence<less...>) {
    ((fill[less + 2] = tiles.template fill<static_cast<int>(less) + 2>()), ...);
  }
  (std::make_index_sequence<Sample::largest - 1>());
  double const best = *std::max_element(fill.begin(), fill.end());
  for (int b = Sample::largest; b > 1; --b) {
    double const here = fill[static_cast<std::size_t>(b)];
    if (b <= pattern.rows && 3 * here >= 2 && here >= 0.9 * best) return b;
  }
  return 1;
}

template <class Scalar, class Offset, class Ordinal>
struct LeastDiagonal {
  using Real = real_t<Scalar>;
  MatrixRef<Scalar, Offset, Ordinal> A;

  KOKKOS_FUNCTION void operator()(std::int64_t row, Real& least) const {
    Scalar sum(0);
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k)
      if (static_cast<std::int64_t>(A.pattern.column_indices[k]) == row) sum += A.values[k];
    Real const size = Kokkos::abs(sum);
    if (size < least && !Kokkos::isinf(1 / size)) least = size;
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
real_t<Scalar> least_diagonal(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Real = real_t<Scalar>;
  Real least = Kokkos::Experimental::infinity_v<Real>;
  if (A.pattern.rows > 0)
    Kokkos::parallel_reduce("Blockspan::block_jacobi_least", Policy(exec, 0, A.pattern.rows),
                            LeastDiagonal<Scalar, Offset, Ordinal>{A}, Kokkos::Min<Real>(least));
  constexpr Real most = Kokkos::Experimental::finite_max_v<Real>;
  return least < most ? least : Kokkos::Experimental::infinity_v<Real>;
}

template <class Scalar, class Offset, class Ordinal>
struct GatherBlocks {
  MatrixRef<Scalar, Offset, Ordinal> A;
  int b;
  real_t<Scalar> least;
  Scalar* blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Scalar* const out = blocks + row * b;
    for (int c = 0; c < b; ++c) out[c] = Scalar(0);
    std::int64_t const first = row / b * b;
    bool empty = true;
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k) {
      std::int64_t const c = static_cast<std::int64_t>(A.pattern.column_indices[k]) - first;
      if (c >= 0 && c < b) out[c] += A.values[k];
      if (A.values[k] != Scalar(0)) empty = false;
    }
    if (empty) out[row - first] = Scalar(least);
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
void gather_blocks(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A, int b,
                   real_t<Scalar> least, Scalar* blocks) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("Blockspan::block_jacobi_gather", Policy(exec, 0, A.pattern.rows),
                       GatherBlocks<Scalar, Offset, Ordinal>{A, b, least, blocks});
}

template <class Scalar>
struct InvertBlocks {
  using value_type = BlockFaults;

  std::int64_t rows;
  int b;
  bool absolute;
  real_t<Scalar> least;
  Scalar* blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t block, BlockFaults& faults) const {
    std::int64_t const first = block * b;
    Scalar* const entries = blocks + first * b;
    SmallHermitian<Scalar> B;
    B.order = static_cast<int>(rows - first < b ? rows - first : b);
    for (int i = 0; i < B.order; ++i)
      for (int j = 0; j < B.order; ++j) B.a[i][j] = entries[i * b + j];
    if (!B.is_finite()) return join(faults, BlockFaults{first, -1, 0});
    B.balance(least);
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
                          real_t<Scalar> least, Scalar* blocks) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  BlockFaults faults;
  if (rows > 0)
    Kokkos::parallel_reduce("Blockspan::block_jacobi_invert",
                            Policy(exec, 0, ceil_div<std::int64_t>(rows, b)),
                            InvertBlocks<Scalar>{rows, b, absolute, least, blocks}, faults);
  return faults;
}

/// Rows of blocks times columns of X, both contiguous along rows. b is a compile-time constant, so
/// that a sum is unrolled. On devices the b rows of X are read from memory once and then from the
/// cache.
template <class Scalar, int b>
struct ApplyBlocks {
  Scalar const* blocks;
  Scalar const* x;
  Scalar* y;
  std::int64_t rows, x_stride, y_stride;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t last) const {
    std::int64_t const first = i / b * b;
    if (first + b <= rows)
      multiply<true>(i, first, j, last);
    else
      multiply<false>(i, first, j, last);
  }

  /// whole: the size of the block is the compile-time constant b.
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

template <class Exec, class Scalar>
void apply_blocks(Exec const& exec, int b, Scalar const* blocks, BlockRef<Scalar const> const& X,
                  BlockRef<Scalar> const& Y) {
  auto const with = [&]<int size>(std::integral_constant<int, size>) {
    for_each_row(
        exec, "Blockspan::block_jacobi", X.rows, X.columns,
        ApplyBlocks<Scalar, size>{blocks, X.data, Y.data, X.rows, X.row_stride, Y.row_stride});
  };
  [&]<int... less>(std::integer_sequence<int, less...>) {
    (void)((b == less + 1 && (with(std::integral_constant<int, less + 1>()), true)) || ...);
  }
  (std::make_integer_sequence<int, 8>());
}

}  // namespace blockspan::operators
