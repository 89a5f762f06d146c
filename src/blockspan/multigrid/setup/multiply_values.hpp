#pragma once

#include <cstdint>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multigrid/setup/team_product.hpp>
#include <blockspan/multigrid/setup/workers.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::levels {

/// The values of C = A B in a pattern that is known, row by row (Gustavson 1978,
/// doi:10.1145/355791.355796): the entries of a row of A one after the other, so that every sum has
/// one order. Hosts; for devices see team_product.hpp.
template <class Exec, class Scalar>
struct ProductValues {
  MatrixRef<Scalar, int, int> A, B;
  PatternRef<int, int> C;
  Supernodes supernodes_A, supernodes_B;
  Scalar* values;
  Workers workers;
  Integers<Exec> places;  ///< where a column is in the current rows; empty: search

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    auto const range = workers.rows_of(worker);
    int* const table = places.extent(0) > 0 ? places.data() + worker * C.columns : nullptr;
    for (std::int64_t group = range.first; group < range.last; group += range.step)
      rows(group, table);
  }

  KOKKOS_FUNCTION void rows(std::int64_t group, int* table) const {
    std::int64_t const i = supernodes_A.first(group);
    int const first = C.row_offsets[i], count = C.row_offsets[i + 1] - first;
    for (int k = 0; table && k < count; ++k) table[C.column_indices[first + k]] = k;
    int const from = A.pattern.row_offsets[i], length = A.pattern.row_offsets[i + 1] - from;
    for (int r = 0; r < supernodes_A.rows(group); ++r) {
      Scalar* const sums = values + first + r * count;  // rows follow each other
      Scalar const* const of_A = A.values + r * length;
      for (int k = 0; k < count; ++k) sums[k] = Scalar(0);
      for (int a = from; a < from + length;) {
        int const taken = supernodes_B.run_length(A.pattern.column_indices, a, from + length, 3);
        Entries const entries{A.pattern.column_indices[a], first, count, table};
        if (taken == 3)
          add<3>(entries, of_A + a, sums);
        else if (taken == 2)
          add<2>(entries, of_A + a, sums);
        else
          add<1>(entries, of_A + a, sums);
        a += taken;
      }
    }
  }

 private:
  struct Entries {
    int row_of_B, first, count;  ///< where the row of C begins, and its length
    int const* table;
  };

  /// sums += of_A[0] B_k + ... + of_A[n - 1] B_{k + n - 1}, rows with the same columns.
  template <int n>
  KOKKOS_FUNCTION void add(Entries const& to, Scalar const* of_A, Scalar* sums) const {
    int const begin = B.pattern.row_offsets[to.row_of_B],
              length = B.pattern.row_offsets[to.row_of_B + 1] - begin;
    int const* const keys = C.column_indices + to.first;
    int from = 0;  // columns ascend in both
    for (int b = begin; b < begin + length; ++b) {
      int const column = B.pattern.column_indices[b];
      int const place = to.table ? to.table[column] : place_of(keys, from, to.count, column);
      from = place + 1;
      Scalar sum = sums[place];
      for (int e = 0; e < n; ++e) sum += of_A[e] * B.values[b + e * length];
      sums[place] = sum;
    }
  }
};

/// C: its pattern holds that of A B. Does not wait.
template <class Exec, class Scalar>
void multiply_values(Exec const& exec, Arena<Exec>& arena, MatrixRef<Scalar, int, int> const& A,
                     MatrixRef<Scalar, int, int> const& B, Pattern<Exec> const& C,
                     Array<Scalar, Exec> const& values, Supernodes supernodes_A = {},
                     Supernodes const& supernodes_B = {}) {
  if (supernodes_A.begin == nullptr) supernodes_A.groups = C.rows;
  if constexpr (!runs_on_host_v<Exec>) {
    using Rows = TeamProductValues<Scalar>;
    // rows longer than the room are slow, and room that is not used keeps teams away
    std::int64_t const mean = C.rows > 0 ? C.entries() / C.rows + 1 : 1;
    std::int64_t const wanted = supernodes_A.most > 1 ? mean + mean / 2 : 4 * mean;
    ProductTeams const teams(B.pattern, wanted, Rows::bytes_of_place(supernodes_A),
                             warp_size_v<Exec>);
    teams.launch(exec, "Blockspan::multigrid_multiply", supernodes_A.groups,
                 Rows{A, B, C.ref(), supernodes_A, supernodes_B, values.data(), teams.room});
  } else {
    std::int64_t const table = C.columns * static_cast<std::int64_t>(sizeof(int));
    Workers const workers(exec, supernodes_A.groups, table);
    bool const dense = workers.count * table <= std::int64_t{1} << 29;
    auto const places = scratch_array<int>(exec, arena, dense ? workers.count * C.columns : 0);
    each(exec, "Blockspan::multigrid_multiply", workers.count,
         ProductValues<Exec, Scalar>{A, B, C.ref(), supernodes_A, supernodes_B, values.data(),
                                     workers, places});
    if (dense) exec.fence("Blockspan::multigrid_multiply");  // the table is freed on return
  }
}

}  // namespace blockspan::levels
