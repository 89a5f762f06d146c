#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

// A copy of a matrix in slices (as SELL-C-sigma, Kreutzer et al. 2014, doi:10.1137/130930352,
// without its padding): rows in order of their lengths within a window, a few at a time. Their
// first entries alternate, those of the first row before those of the second; what some rows have
// more than others follows, row by row. So no value is made up, and the sum of a row has its order.

namespace blockspan::products {

/// A slice is `tuning::slice_rows` places.
template <class Scalar, class Exec, class Ordinal>
struct RowSlices {
  template <class Element>
  using Array = Kokkos::View<Element*, typename Exec::memory_space>;

  Array<int> rows;      ///< of each place
  Array<int> ends;      ///< of each place: behind the entries that follow the alternating ones
  Array<int> first;     ///< of each slice: its first entry; and the number of entries
  Array<int> together;  ///< of each slice: alternating entries of a row; even where rows have more
  Array<Ordinal> columns;
  Array<Scalar> values;

  std::int64_t count() const { return static_cast<std::int64_t>(together.extent(0)); }
};

inline namespace BLOCKSPAN_REGISTERS {

/// The rows of a window by their lengths; its entries are those of its rows, so that windows do not
/// depend on each other.
template <class Scalar, class Exec, class Ordinal>
struct FillSlices {
  static constexpr int rows_of_window = tuning::slice_window;
  static constexpr int slice_rows = tuning::slice_rows;
  static_assert(rows_of_window % slice_rows == 0);

  MatrixRef<Scalar, int, Ordinal> A;
  RowSlices<Scalar, Exec, Ordinal> slices;

  KOKKOS_FUNCTION void operator()(std::int64_t window) const {
    KOKKOS_IF_ON_HOST((fill(window);))
    KOKKOS_IF_ON_DEVICE(((void)window;))
  }

 private:
  void fill(std::int64_t window) const {
    std::int64_t const begin = window * rows_of_window;
    std::int64_t const end = std::min(begin + rows_of_window, A.pattern.rows);
    sort(begin, end);
    int entry = A.pattern.row_offsets[begin];
    for (std::int64_t place = begin; place < end; place += slice_rows) {
      slices.first[place / slice_rows] = entry;
      entry = fill_slice(place, std::min<std::int64_t>(place + slice_rows, end), entry);
    }
    if (end == A.pattern.rows) slices.first[ceil_div(end, std::int64_t{slice_rows})] = entry;
  }

  int length(std::int64_t row) const {
    return A.pattern.row_offsets[row + 1] - A.pattern.row_offsets[row];
  }

  /// By counting; all that are much longer than the shortest stay together.
  void sort(std::int64_t begin, std::int64_t end) const {
    int shortest = length(begin);
    for (std::int64_t row = begin; row < end; ++row) shortest = std::min(shortest, length(row));
    auto const key = [&](std::int64_t row) {
      return std::min(length(row) - shortest, rows_of_window - 1);
    };
    std::array<int, rows_of_window + 1> places{};
    for (std::int64_t row = begin; row < end; ++row) ++places[key(row) + 1];
    for (int k = 0; k < rows_of_window; ++k) places[k + 1] += places[k];
    for (std::int64_t row = begin; row < end; ++row)
      slices.rows[begin + places[key(row)]++] = static_cast<int>(row);
  }

  /// Returns the entry behind it.
  int fill_slice(std::int64_t begin, std::int64_t end, int entry) const {
    int shortest = INT32_MAX, longest = 0;
    for (std::int64_t place = begin; place < end; ++place) {
      shortest = std::min(shortest, length(slices.rows[place]));
      longest = std::max(longest, length(slices.rows[place]));
    }
    bool const whole = end - begin == slice_rows, even = shortest == longest;
    int const together = !whole ? 0 : even ? shortest : shortest / 2 * 2;
    slices.together[begin / slice_rows] = together;
    int rest = entry + together * slice_rows;
    for (std::int64_t place = begin; place < end; ++place) {
      int const from = A.pattern.row_offsets[slices.rows[place]];
      int const last = A.pattern.row_offsets[slices.rows[place] + 1];
      int to = entry + static_cast<int>(place - begin);
      for (int k = from; k < from + together; ++k, to += slice_rows) copy(k, to);
      for (int k = from + together; k < last; ++k) copy(k, rest++);
      slices.ends[place] = rest;
    }
    return rest;
  }
  void copy(int from, int to) const {
    slices.columns[to] = A.pattern.column_indices[from];
    slices.values[to] = A.values[from];
  }
};

/// The entries of A. Waits for the instance; throws Error where memory is short. `old`: slices of
/// the same pattern, whose memory is used again.
template <class Exec, class Scalar, class Ordinal>
RowSlices<Scalar, Exec, Ordinal> make_row_slices(Exec const& exec,
                                                 MatrixRef<Scalar, int, Ordinal> const& A,
                                                 RowSlices<Scalar, Exec, Ordinal> slices) {
  using Fill = FillSlices<Scalar, Exec, Ordinal>;
  auto const resize = [&](auto& array, std::int64_t count) {
    if (static_cast<std::int64_t>(array.extent(0)) != count)
      array = allocate<std::remove_reference_t<decltype(array)>>(
          exec, "Blockspan::spmm_plan::slices", count);
  };
  std::int64_t const count = ceil_div(A.pattern.rows, std::int64_t{Fill::slice_rows});
  resize(slices.rows, A.pattern.rows), resize(slices.ends, A.pattern.rows);
  resize(slices.first, count + 1), resize(slices.together, count);
  resize(slices.columns, A.pattern.entries), resize(slices.values, A.pattern.entries);
  Kokkos::parallel_for(
      "Blockspan::spmm_plan::slices",
      IndexRange<Exec>(exec, 0, ceil_div(A.pattern.rows, std::int64_t{Fill::rows_of_window})),
      Fill{A, slices});
  exec.fence("Blockspan::spmm_plan::slices");
  return slices;
}

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::products
