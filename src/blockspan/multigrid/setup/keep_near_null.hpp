#pragma once

#include <blockspan/multigrid/setup/tentative.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::levels {

/// Corrects the marked rows of P so that P B_coarse = B there, by additions to the columns of the
/// row's own aggregate. (With the missing entries of A in the row, P B_coarse = B would hold
/// approximately, since A B is small.) B: near-null vectors; T: of the same level, its columns are
/// in the pattern of P. Asynchronous.
template <class Exec, class Scalar>
void keep_near_null(Exec const& exec, Integers<Exec> const& marked, Block<Scalar, Exec> const& B,
                    Tentative<Scalar, Exec> const& T, Pattern<Exec> const& prolongator,
                    Array<Scalar, Exec> const& values) {
  auto const t = T.pattern.ref(), p = prolongator.ref();
  auto const coarse = T.near_null;
  int const q = T.vectors;
  each(
      exec, "Blockspan::multigrid_keep_near_null", p.rows, KOKKOS_LAMBDA(std::int64_t i) {
        if (marked(i) == 0 || t.row_offsets[i] == t.row_offsets[i + 1]) return;
        Scalar missing[most_rows_of_node];
        for (int j = 0; j < q; ++j) {
          missing[j] = B(i, j);
          for (int k = p.row_offsets[i]; k < p.row_offsets[i + 1]; ++k)
            missing[j] -= values(k) * coarse(p.column_indices[k], j);
        }
        // the near-null vectors of an aggregate are in row echelon form: solved by forward
        // substitution
        for (int k = t.row_offsets[i]; k < t.row_offsets[i + 1]; ++k) {
          int const column = t.column_indices[k];
          int pivot = 0;
          while (pivot < q && coarse(column, pivot) == Scalar(0)) ++pivot;
          if (pivot == q) continue;
          Scalar const add = missing[pivot] / coarse(column, pivot);
          for (int j = pivot; j < q; ++j) missing[j] -= add * coarse(column, j);
          values(place_of(p.column_indices, p.row_offsets[i], p.row_offsets[i + 1], column)) += add;
        }
      });
}

}  // namespace blockspan::levels
