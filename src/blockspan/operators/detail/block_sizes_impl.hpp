#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/small_ref.hpp>
#include <blockspan/operators/detail/block_jacobi.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// Counts, for every block size, the entries that the tiles hold which are not empty. Host code for
/// a sample of the rows.
class TileCounter {
 public:
  static constexpr int largest = 8;
  /// Rows that are counted together: a multiple of every block size.
  static constexpr std::int64_t window = 840;

  TileCounter(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), marks_(static_cast<std::size_t>(columns), -1) {}

  /// The rows from first_row on, a multiple of the window; offsets: one more than the rows.
  template <class Offset, class Ordinal>
  void add(std::int64_t first_row, std::vector<Offset> const& offsets,
           std::vector<Ordinal> const& indices) {
    auto const count = static_cast<std::int64_t>(offsets.size()) - 1;
    for (int b = 1; b <= largest; ++b)
      for (std::int64_t i = 0; i < count; i += b) {
        std::int64_t const height = std::min<std::int64_t>(b, rows_ - first_row - i);
        auto const entry = [&](std::int64_t row) {
          return static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)] - offsets[0]);
        };
        std::size_t const last = entry(std::min(i + b, count));
        ++stamp_;
        for (std::size_t k = entry(i); k < last; ++k) {
          std::int64_t const tile = static_cast<std::int64_t>(indices[k]) / b;
          auto& mark = marks_[static_cast<std::size_t>(tile)];
          if (mark == stamp_) continue;
          mark = stamp_;
          areas_[static_cast<std::size_t>(b)] +=
              height * std::min<std::int64_t>(b, columns_ - tile * b);
        }
      }
  }

  /// The share of the entries of tiles of size b that are stored.
  double fill(int b) const {
    auto const area = areas_[static_cast<std::size_t>(b)];
    return area > 0 ? static_cast<double>(areas_[1]) / static_cast<double>(area) : 0;
  }

 private:
  std::int64_t rows_, columns_;
  std::vector<std::int64_t> marks_;  ///< of columns of tiles: the group of rows seen last
  std::int64_t stamp_ = 0;
  std::array<std::int64_t, largest + 1> areas_{};
};

/// `count` numbers of the device from `first` on.
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
  constexpr std::int64_t most_windows = 32;
  auto const& pattern = A.pattern;
  TileCounter tiles(pattern.rows, pattern.columns);
  std::int64_t const windows = ceil_div(pattern.rows, TileCounter::window);
  std::int64_t const sampled = std::min(windows, most_windows);
  for (std::int64_t s = 0; s < sampled; ++s) {
    std::int64_t const row = s * windows / sampled * TileCounter::window;
    auto const offsets = fetched(exec, pattern.row_offsets + row,
                                 std::min(TileCounter::window, pattern.rows - row) + 1);
    tiles.add(row, offsets,
              fetched(exec, pattern.column_indices + offsets.front(),
                      static_cast<std::int64_t>(offsets.back() - offsets.front())));
  }
  double best = 0;
  for (int b = 2; b <= TileCounter::largest; ++b) best = std::max(best, tiles.fill(b));
  for (int b = TileCounter::largest; b > 1; --b)
    if (b <= pattern.rows && 3 * tiles.fill(b) >= 2 && tiles.fill(b) >= 0.9 * best) return b;
  return 1;
}

}  // namespace blockspan::detail
