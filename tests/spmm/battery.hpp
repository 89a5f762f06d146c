#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/detail/prepared_pattern.hpp>
#include <blockspan/spmm/variants.hpp>

#include "support/random.hpp"

namespace blockspan::test {

/// The menu as far as the backend offers it for the scalar.
template <class Exec, class Scalar = double>
std::vector<SpmmVariant> offered_variants() {
  std::vector<SpmmVariant> offered;
  for (auto const& variant : spmm_variants)
    if (blockspan::detail::is_offered<Exec, real_t<Scalar>>(variant)) offered.push_back(variant);
  return offered;
}

/// A compressed-row matrix on the host.
template <class Scalar>
struct HostMatrix {
  std::string name;
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices;
  std::vector<Scalar> values;

  void add(std::int64_t column, Scalar value) {
    indices.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(static_cast<std::int64_t>(indices.size())); }
};

/// The same matrix where `Exec` computes.
template <class Offset = int, class Ordinal = int, class Scalar, class Exec>
CrsMatrix<Scalar, Exec, Offset, Ordinal> to_device(Exec const& exec, HostMatrix<Scalar> const& A) {
  using Matrix = CrsMatrix<Scalar, Exec, Offset, Ordinal>;
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  auto const copy = [&]<class To, class From>(To, std::vector<From> const& from) {
    Kokkos::View<To*, Device> const view("Blockspan::test", from.size());
    auto const mirror = Kokkos::create_mirror_view(view);
    for (std::size_t i = 0; i < from.size(); ++i) mirror(i) = static_cast<To>(from[i]);
    Kokkos::deep_copy(exec, view, mirror);
    exec.fence("Blockspan::test");
    return view;
  };
  return Matrix("A", static_cast<Ordinal>(A.rows), static_cast<Ordinal>(A.columns),
                static_cast<Offset>(A.values.size()), copy(Scalar(), A.values),
                copy(Offset(), A.offsets), copy(Ordinal(), A.indices));
}

/// rows x columns, each row with the number of random entries that `length(row)` says, in any
/// order, repeated columns possible.
template <class Scalar, class Length>
HostMatrix<Scalar> random_matrix(std::string name, std::int64_t rows, std::int64_t columns,
                                 Length length, std::uint64_t seed = 1) {
  Random random(seed);
  HostMatrix<Scalar> A{std::move(name), rows, columns, {0}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0, n = length(i); k < n; ++k)
      A.add(random.below(columns), random.value<Scalar>());
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> band(std::int64_t n) {
  Random random(5);
  HostMatrix<Scalar> A{"band", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 2); j < std::min(n, i + 4); ++j)
      A.add(j, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> arrow(std::int64_t n) {
  Random random(6);
  HostMatrix<Scalar> A{"dense row and column", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 3)
      for (std::int64_t j = 0; j < n; ++j) A.add(j, random.value<Scalar>());
    else
      A.add(7, random.value<Scalar>()), A.add(i, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> explicit_zeros(std::int64_t n) {
  auto A = random_matrix<Scalar>("explicit zeros", n, n, [](std::int64_t) { return 5; });
  for (std::size_t k = 0; k < A.values.size(); k += 2) A.values[k] = Scalar(0);
  return A;
}

/// Runs of rows with the same `length(run)` random columns, as many rows as `rows_of(run)`; other
/// values in every row.
template <class Scalar, class RowsOf, class Length>
HostMatrix<Scalar> shared_columns(std::string name, std::int64_t runs, std::int64_t columns,
                                  RowsOf rows_of, Length length) {
  Random random(9);
  HostMatrix<Scalar> A{std::move(name), 0, columns, {0}, {}, {}};
  for (std::int64_t run = 0; run < runs; ++run) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(length(run)));
    for (auto& column : list) column = random.below(columns);
    for (std::int64_t i = 0; i < rows_of(run); ++i, ++A.rows) {
      for (auto const column : list) A.add(column, random.value<Scalar>());
      A.end_row();
    }
  }
  return A;
}

/// Small hostile matrices.
template <class Scalar>
std::vector<HostMatrix<Scalar>> battery() {
  using Row = std::int64_t;
  auto const constant = [](Row n) { return [n](Row) { return n; }; };
  return {
      random_matrix<Scalar>("0 x 0", 0, 0, constant(0)),
      random_matrix<Scalar>("0 x n", 0, 9, constant(0)),
      random_matrix<Scalar>("n x 0", 9, 0, constant(0)),
      random_matrix<Scalar>("1 x n", 1, 61, constant(40)),
      random_matrix<Scalar>("n x 1", 53, 1, constant(1)),
      random_matrix<Scalar>("no entries", 11, 7, constant(0)),
      random_matrix<Scalar>("empty rows", 40, 30, [](Row i) { return i % 3 == 1 ? 6 : 0; }),
      random_matrix<Scalar>("one heavy row", 30, 50, [](Row i) { return i == 11 ? 700 : 2; }),
      random_matrix<Scalar>("heavy first and last row", 25, 40,
                            [](Row i) { return i % 24 == 0 ? 45 : i % 3; }),
      arrow<Scalar>(48),
      band<Scalar>(45),
      random_matrix<Scalar>("random, unsorted, repeated", 37, 29, constant(12)),
      explicit_zeros<Scalar>(20),
      random_matrix<Scalar>("power law", 64, 64, [](Row i) { return 128 / (1 + i); }),
      random_matrix<Scalar>("wide", 5, 400, constant(90)),
      random_matrix<Scalar>("tall", 300, 6, [](Row i) { return i % 4; }),
      shared_columns<Scalar>(
          "runs of rows with the same columns", 14, 60, [](Row run) { return 1 + run % 7; },
          [](Row run) { return run % 5 == 2 ? 0 : 3 * run + 1; }),
  };
}

}  // namespace blockspan::test
