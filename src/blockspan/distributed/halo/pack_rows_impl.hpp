#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/halo/pack_rows.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::distributed {

/// One row per task.
template <class Kernel>
struct RowByTask {
  Kernel kernel;
  std::int64_t columns;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    for (std::int64_t j = 0; j < columns; ++j) kernel(p, j);
  }
};
/// One row per team thread, its lanes over the columns.
template <class Exec, class Kernel>
struct RowByLanes {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kernel kernel;
  std::int64_t rows, columns;
  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    std::int64_t const p = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
    if (p >= rows) return;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, columns),
                         [&](std::int64_t j) { kernel(p, j); });
  }
};

template <class Exec, class Kernel>
void for_rows(Exec const& exec, char const* label, std::int64_t rows, std::int64_t columns,
              Kernel const& kernel) {
  if (rows * columns == 0) return;
  if constexpr (runs_on_host_v<Exec>) {
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows),
                         RowByTask<Kernel>{kernel, columns});
  } else {
    using Lanes = RowByLanes<Exec, Kernel>;
    int lanes = 1;
    while (lanes < 32 && lanes < columns) lanes *= 2;
    int const threads = 256 / lanes;
    auto const teams = static_cast<int>(ceil_div(rows, std::int64_t{threads}));
    Kokkos::parallel_for(label, typename Lanes::Policy(exec, teams, threads, lanes),
                         Lanes{kernel, rows, columns});
  }
}

template <class Exec, class Scalar>
void pack_rows(Exec const& exec, BlockRef<Scalar const> const& X, PackedRows<Scalar> const& first,
               PackedRows<Scalar> const& second) {
  for_rows(exec, "Blockspan::distributed::pack", first.count + second.count, X.columns,
           PackRows<Scalar>{X, first, second});
}

template <class Exec, class Scalar>
void add_rows(Exec const& exec, Scalar const* packed, int const* rows, std::int64_t count,
              BlockRef<Scalar> const& Y) {
  for_rows(exec, "Blockspan::distributed::add", count, Y.columns, AddRows<Scalar>{packed, rows, Y});
}

/// offsets[i + 1] = the number of kept entries of row i: those with column(k) >= 0.
template <class Rows>
struct CountKept {
  Rows rows;
  int* offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const& A = rows.A.pattern;
    int count = 0;
    for (int k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) count += rows.column(k) >= 0;
    offsets[rows.first + i + 1] = count;
  }
};
template <class Rows, class Scalar>
struct CopyKept {
  Rows rows;
  int const* offsets;
  int* columns;
  Scalar* values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const& A = rows.A.pattern;
    int place = offsets[rows.first + i];
    for (int k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      if (int const column = rows.column(k); column >= 0) {
        columns[place] = column;
        values[place++] = rows.A.values[k];
      }
  }
};
struct SumOffsets {
  int* offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool last) const {
    sum += offsets[i];
    if (last) offsets[i] = static_cast<int>(sum);
  }
};

/// The rows x columns matrix of the entries that `parts` keep. Fences.
template <class Exec, class Scalar, class Rows, std::size_t Parts>
CrsMatrix<Scalar, Exec> kept_entries(Exec const& exec, std::array<Rows, Parts> const& parts,
                                     std::int64_t rows, std::int64_t columns) {
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Indices = Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using Values = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  constexpr auto label = "Blockspan::distributed::columns";
  auto const offsets = allocate_zeros<Indices>(exec, label, rows + 1);
  for (auto const& part : parts)
    Kokkos::parallel_for(label, Policy(exec, 0, part.A.pattern.rows),
                         CountKept<Rows>{part, offsets.data()});
  std::int64_t entries = 0;
  Kokkos::parallel_scan(label, Policy(exec, 0, rows + 1), SumOffsets{offsets.data()}, entries);
  exec.fence(label);
  auto const indices = allocate<Indices>(exec, label, entries);
  auto const values = allocate<Values>(exec, label, entries);
  for (auto const& part : parts)
    Kokkos::parallel_for(
        label, Policy(exec, 0, part.A.pattern.rows),
        CopyKept<Rows, Scalar>{part, offsets.data(), indices.data(), values.data()});
  exec.fence(label);
  return Matrix(label, static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(entries),
                values, offsets, indices);
}

template <class Exec, class Scalar>
CrsMatrix<Scalar, Exec> local_columns(Exec const& exec,
                                      std::array<RowsOfRank<Scalar>, 3> const& parts,
                                      std::int64_t rows) {
  return kept_entries<Exec, Scalar>(exec, parts, rows, rows);
}

template <class Scalar>
struct MarkCut {
  RowsOfRank<Scalar> rows;
  int* marks;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const& A = rows.A.pattern;
    bool cut = false;
    for (int k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) cut = cut || rows.column(k) < 0;
    marks[rows.first + i] = cut ? 1 : 0;
  }
};

template <class Exec, class Scalar>
Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>> cut_rows(
    Exec const& exec, std::array<RowsOfRank<Scalar>, 3> const& parts, std::int64_t rows) {
  using Indices = Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  constexpr auto label = "Blockspan::distributed::cut_rows";
  auto const marks = allocate<Indices>(exec, label, rows);
  for (auto const& part : parts)
    Kokkos::parallel_for(label, Policy(exec, 0, part.A.pattern.rows),
                         MarkCut<Scalar>{part, marks.data()});
  exec.fence(label);
  return marks;
}

/// All rows of A. inside: columns [begin, end) are kept, numbered from zero; else all others are
/// kept.
template <class Scalar>
struct ColumnRange {
  MatrixRef<Scalar, int, int> A;
  int begin, end;
  bool inside;
  static constexpr std::int64_t first = 0;

  KOKKOS_FORCEINLINE_FUNCTION int column(int k) const {
    int const column = A.pattern.column_indices[k];
    bool const within = column >= begin && column < end;
    if (within != inside) return -1;
    return inside ? column - begin : column;
  }
};

template <class Exec, class Scalar>
ColumnsOfRank<Scalar, Exec> split_columns(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                          int begin, int end) {
  auto const entries = sparse::matrix_ref<Exec>(A);
  auto const kept = [&](bool inside, std::int64_t columns) {
    return kept_entries<Exec, Scalar>(
        exec, std::array{ColumnRange<Scalar>{entries, begin, end, inside}}, A.numRows(), columns);
  };
  return {kept(true, end - begin), kept(false, A.numCols())};
}

/// Column indices that mark diagonal entries by their row and all others by -1.
template <class Scalar>
struct MarkDiagonal {
  RowsOfRank<Scalar> rows;
  int* marks;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const& A = rows.A.pattern;
    for (int k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      marks[k] = rows.column(k) == rows.first + i ? static_cast<int>(i) : -1;
  }
};

/// Calls f with the rows as a matrix whose diagonal entries are in the columns of their rows. f
/// must fence.
template <class Exec, class Scalar, class Function>
auto with_diagonal(Exec const& exec, RowsOfRank<Scalar> const& rows, Function const& f) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Indices = Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  constexpr auto label = "Blockspan::distributed::facts";
  auto A = rows.A;
  if (rows.from == nullptr && rows.first == 0) return f(A);
  auto const marks = allocate<Indices>(exec, label, A.pattern.entries);
  Kokkos::parallel_for(label, Policy(exec, 0, A.pattern.rows),
                       MarkDiagonal<Scalar>{rows, marks.data()});
  A.pattern.column_indices = marks.data();
  return f(A);
}

template <class Exec, class Scalar>
operators::RowMeasures<Scalar> measure_parts(Exec const& exec,
                                             std::array<RowsOfRank<Scalar>, 3> const& parts,
                                             real_t<Scalar> const* weights) {
  operators::RowMeasures<Scalar> all;
  for (auto const& rows : parts) {
    if (rows.A.pattern.rows == 0) continue;
    auto some = with_diagonal(exec, rows, [&](auto const& A) {
      return operators::measure_rows(exec, A, weights + rows.first);
    });
    if (some.indefinite_row >= 0) some.indefinite_row += rows.first;
    all.join(some);
  }
  return all;
}

template <class Exec, class Scalar>
FactsOfRows<real_t<Scalar>> facts_of_rows(Exec const& exec, RowsOfRank<Scalar> const& rows) {
  if (rows.A.pattern.rows == 0) return {};
  return with_diagonal(exec, rows, [&](auto const& A) {
    FactsOfRows<real_t<Scalar>> facts;
    facts.bounds = row_bounds(exec, A);
    facts.annihilates_constants = rows_sum_to_zero(exec, A);
    facts.diagonal = operators::real_diagonal(exec, A);
    return facts;
  });
}

struct ShiftOffsets {
  int const* from;
  int* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i] - from[0]; }
};

template <class Exec, class Scalar>
CrsMatrix<Scalar, Exec> rows_between(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                     std::int64_t first, std::int64_t last) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Indices = Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  constexpr auto label = "Blockspan::distributed::rows";
  auto const offsets = allocate<Indices>(exec, label, last - first + 1);
  auto const* const from = A.graph.row_map.data() + first;
  Kokkos::parallel_for(label, Policy(exec, 0, last - first + 1),
                       ShiftOffsets{from, offsets.data()});
  int begin = 0, end = 0;
  Kokkos::deep_copy(exec, begin, Kokkos::subview(A.graph.row_map, first));
  Kokkos::deep_copy(exec, end, Kokkos::subview(A.graph.row_map, last));
  exec.fence(label);
  std::pair<int, int> const range(begin, end);
  return CrsMatrix<Scalar, Exec>(label, static_cast<int>(last - first), A.numCols(), end - begin,
                                 Kokkos::subview(A.values, range), offsets,
                                 Kokkos::subview(A.graph.entries, range));
}

}  // namespace blockspan::distributed
