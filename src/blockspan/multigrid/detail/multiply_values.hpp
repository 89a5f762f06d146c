#pragma once

#include <cstdint>

#include <blockspan/multigrid/detail/arrays.hpp>
#include <blockspan/multigrid/detail/team_product.hpp>
#include <blockspan/multigrid/detail/workers.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// The values of C = A B in a pattern that is known, row by row (Gustavson 1978,
/// doi:10.1145/355791.355796): the entries of a row of A one after the other, so that every sum has
/// one order. Hosts; for devices see team_product.hpp.
template <class Exec, class Scalar>
struct ProductValues {
  MatrixRef<Scalar, int, int> A, B;
  PatternRef<int, int> C;
  Scalar* values;
  Workers workers;
  Integers<Exec> places;  ///< where a column is in the current row; empty: search

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    auto const range = workers.rows_of(worker);
    int* const table = places.extent(0) > 0 ? places.data() + worker * C.columns : nullptr;
    for (std::int64_t i = range.first; i < range.last; i += range.step) row(i, table);
  }

  KOKKOS_FUNCTION void row(std::int64_t i, int* table) const {
    int const first = C.row_offsets[i], last = C.row_offsets[i + 1];
    for (int k = first; k < last; ++k) {
      values[k] = Scalar(0);
      if (table) table[C.column_indices[k]] = k;
    }
    for (int a = A.pattern.row_offsets[i]; a < A.pattern.row_offsets[i + 1]; ++a) {
      int const k = A.pattern.column_indices[a];
      Scalar const factor = A.values[a];
      int from = first;  // columns ascend in both
      for (int b = B.pattern.row_offsets[k]; b < B.pattern.row_offsets[k + 1]; ++b) {
        int const column = B.pattern.column_indices[b];
        int const place = table ? table[column] : place_of(C.column_indices, from, last, column);
        from = place + 1;
        values[place] += factor * B.values[b];
      }
    }
  }
};

/// C: its pattern holds that of A B. like: rows of A. Does not wait.
template <class Exec, class Scalar>
void multiply_values(Exec const& exec, MatrixRef<Scalar, int, int> const& A,
                     MatrixRef<Scalar, int, int> const& B, Pattern<Exec> const& C,
                     Array<Scalar, Exec> const& values, LikeRows like = {}) {
  if constexpr (!runs_on_host_v<Exec>) {
    using Rows = TeamProductValues<Scalar>;
    if (like.begin == nullptr) like.groups = C.rows;
    std::int64_t const mean = C.rows > 0 ? C.entries() / C.rows + 1 : 1;
    ProductTeams const teams(B.pattern, (like.most > 1 ? 2 : 4) * mean, Rows::bytes_of_place(like));
    teams.launch(exec, "Blockspan::multigrid_multiply", like.groups,
                 Rows{A, B, C.ref(), like, values.data(), teams.room});
  } else {
    std::int64_t const table = C.columns * static_cast<std::int64_t>(sizeof(int));
    Workers const workers(exec, C.rows, table);
    bool const dense = workers.count * table <= std::int64_t{1} << 29;
    auto const places = new_array<int>(exec, dense ? workers.count * C.columns : 0);
    each(exec, "Blockspan::multigrid_multiply", workers.count,
         ProductValues<Exec, Scalar>{A, B, C.ref(), values.data(), workers, places});
    if (dense) exec.fence("Blockspan::multigrid_multiply");  // the table is freed on return
  }
}

}  // namespace blockspan::detail
