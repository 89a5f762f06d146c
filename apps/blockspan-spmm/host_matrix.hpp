#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/op.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::apps {

/// A matrix as the host reads it; shares the arrays where they are in its memory.
template <class Scalar, class Exec>
struct HostMatrix {
  template <class View>
  using Mirror = Kokkos::View<typename View::const_value_type*, typename View::array_layout,
                              Kokkos::HostSpace>;
  using Matrix = CrsMatrix<Scalar, Exec>;

  explicit HostMatrix(Matrix const& A)
      : rows(A.numRows()),
        columns(A.numCols()),
        offsets(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.graph.row_map)),
        indices(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.graph.entries)),
        values(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values)) {}

  std::int64_t rows, columns;
  Mirror<typename Matrix::row_map_type> offsets;  ///< rows + 1
  Mirror<typename Matrix::index_type> indices;    ///< nonzeros
  Mirror<typename Matrix::values_type> values;    ///< nonzeros

  /// f(i, j, value) for every entry of A, row by row.
  template <class Function>
  void for_each_entry(Function const& f) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (auto at = offsets(i); at < offsets(i + 1); ++at)
        f(i, std::int64_t{indices(at)}, values(at));
  }

  /// Lengths of the rows of op(A).
  std::vector<std::int64_t> row_lengths(Op op) const {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(transposes(op) ? columns : rows));
    for_each_entry([&](std::int64_t i, std::int64_t j, Scalar const&) {
      ++lengths[static_cast<std::size_t>(transposes(op) ? j : i)];
    });
    return lengths;
  }
};

/// Some rows of op(A), entry by entry.
template <class Scalar>
struct RowSample {
  std::vector<std::int64_t> rows;     ///< their indices, ascending
  std::vector<std::size_t> begin;     ///< of the entries of each, and the end
  std::vector<std::int64_t> columns;  ///< of the entries
  std::vector<Scalar> values;         ///< of the entries
};

/// Takes the given rows out of op(A): one pass over A, twice.
template <class Scalar, class Exec>
RowSample<Scalar> take_rows(HostMatrix<Scalar, Exec> const& A, Op op,
                            std::vector<std::int64_t> rows,
                            std::vector<std::int64_t> const& lengths) {
  RowSample<Scalar> sample{std::move(rows), {0}, {}, {}};
  std::vector<std::int64_t> place(lengths.size(), -1);  // in the sample, of each row of op(A)
  for (std::size_t s = 0; s < sample.rows.size(); ++s) {
    auto const row = static_cast<std::size_t>(sample.rows[s]);
    place[row] = static_cast<std::int64_t>(s);
    sample.begin.push_back(sample.begin.back() + static_cast<std::size_t>(lengths[row]));
  }
  sample.columns.resize(sample.begin.back());
  sample.values.resize(sample.begin.back());
  std::vector<std::size_t> next = sample.begin;
  A.for_each_entry([&](std::int64_t i, std::int64_t j, Scalar const& value) {
    if (transposes(op)) std::swap(i, j);
    auto const s = place[static_cast<std::size_t>(i)];
    if (s < 0) return;
    std::size_t const at = next[static_cast<std::size_t>(s)]++;
    sample.columns[at] = j;
    sample.values[at] = conjugates(op) ? conjugate(value) : value;
  });
  return sample;
}

}  // namespace blockspan::apps
