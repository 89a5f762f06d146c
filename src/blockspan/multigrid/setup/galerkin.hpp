#pragma once

#include <blockspan/multigrid/setup/graph.hpp>
#include <blockspan/multigrid/setup/lanes.hpp>
#include <blockspan/multigrid/setup/multiply_values.hpp>
#include <blockspan/support/scalar.hpp>

// The steps from the matrix of a level to that of the next that use values. Asynchronous unless
// stated otherwise.

namespace blockspan::levels {

/// A without the entries between nodes that are not strong neighbours, but with the complete
/// diagonal.
template <class Exec>
struct FilteredPattern {
  Pattern<Exec> pattern;
  /// Position in A of each entry; -1: a diagonal entry that A does not store; empty: entry k of A.
  Integers<Exec> source;
  bool whole = false;     ///< nothing was filtered out
  bool tolerant = false;  ///< although some entries are between weak neighbours
};

/// Selects the entries between nodes that are joined by an edge of the graph, or within a node.
struct StrongEntries {
  PatternRef<int, int> A, strong;
  int const* node;
  bool of_rows = false;  ///< rows are nodes, so every edge is an entry
  bool all = false;      ///< also entries between weak neighbours

  /// For entries of row i in any order ...
  struct Search {
    StrongEntries const& entries;
    int from, first, last;

    KOKKOS_FUNCTION bool operator()(int k) const {
      int const to = entries.node[entries.A.column_indices[k]];
      return entries.all || from == to ||
             place_of(entries.strong.column_indices, first, last, to) >= 0;
    }
  };
  /// ... or in ascending order.
  struct Walk {
    StrongEntries const& entries;
    int from, last;
    mutable int at;

    KOKKOS_FUNCTION bool operator()(int k) const {
      int const to = entries.node[entries.A.column_indices[k]];
      if (entries.all || from == to) return true;
      int const* const columns = entries.strong.column_indices;
      while (at < last && columns[at] < to) ++at;
      return at < last && columns[at] == to;
    }
  };

  KOKKOS_FUNCTION Walk stay(OneLane const& /*lanes*/, std::int64_t i) const {
    return {*this, node[i], strong.row_offsets[node[i] + 1], strong.row_offsets[node[i]]};
  }
  template <class Team>
  KOKKOS_FUNCTION Search stay(ManyLanes<Team> const& /*lanes*/, std::int64_t i) const {
    return {*this, node[i], strong.row_offsets[node[i]], strong.row_offsets[node[i] + 1]};
  }
};

/// counts(i) := twice the number of selected entries of a row, plus one if it has no diagonal
/// entry.
struct CountStrong {
  StrongEntries entries;
  int* counts;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = entries.A.row_offsets[i], count = entries.A.row_offsets[i + 1] - first;
    int const diagonal = lanes.template sum<int>(
        count, [&](int p) { return entries.A.column_indices[first + p] == i ? 1 : 0; });
    int stay = diagonal;
    if (entries.of_rows && !entries.all) {
      stay += entries.strong.row_offsets[i + 1] - entries.strong.row_offsets[i];
    } else {
      auto const stays = entries.stay(lanes, i);
      stay = lanes.template sum<int>(count, [&](int p) { return stays(first + p) ? 1 : 0; });
    }
    lanes.each(1, [&](int) { counts[i] = 2 * stay + (diagonal > 0 ? 0 : 1); });
  }
};

/// Lists the selected entries and the diagonal entry.
struct ListStrong {
  StrongEntries entries;
  int const* offsets;
  int *indices, *source;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const* const columns = entries.A.column_indices;
    int const first = entries.A.row_offsets[i], count = entries.A.row_offsets[i + 1] - first;
    int const diagonal =
        lanes.template sum<int>(count, [&](int p) { return columns[first + p] == i ? 1 : 0; });
    auto const stays = entries.stay(lanes, i);
    lanes.number(
        count, [&](int p) { return stays(first + p); },
        [&](int p, int number) {
          int const place = offsets[i] + number + (diagonal == 0 && columns[first + p] > i ? 1 : 0);
          indices[place] = columns[first + p];
          source[place] = first + p;
        });
    if (diagonal > 0) return;
    auto const stays_before = entries.stay(lanes, i);
    int const before = lanes.template sum<int>(
        count, [&](int p) { return columns[first + p] < i && stays_before(first + p) ? 1 : 0; });
    lanes.each(1, [&](int) {
      indices[offsets[i] + before] = static_cast<int>(i);
      source[offsets[i] + before] = -1;
    });
  }
};

/// Converts the counts of CountStrong to numbers of entries; returns how many entries of A are left
/// out. Fences.
template <class Exec>
std::int64_t left_out_of_counts(Exec const& exec, PatternRef<int, int> const& A,
                                Integers<Exec> const& counts) {
  return count_each(
      exec, "Blockspan::multigrid_count_filtered", A.rows,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & out) {
        int const stay = counts(i) / 2;
        out += A.row_offsets[i + 1] - A.row_offsets[i] - stay;
        counts(i) = stay + counts(i) % 2;
      });
}

/// Filters A. tolerated: if at most this share of the entries would be left out, none are. Fences.
template <class Exec>
FilteredPattern<Exec> filter(Exec const& exec, Arena<Exec>& arena, PatternRef<int, int> const& A,
                             NodePartition<Exec> const& nodes, Pattern<Exec> const& strong,
                             double tolerated) {
  StrongEntries entries{A, strong.ref(), nodes.of_row.data(), nodes.largest == 1};
  auto const offsets = kept_array<int>(exec, arena, A.rows + 1);
  auto const count_left_out = [&] {
    each_by_lanes(exec, "Blockspan::multigrid_count_filtered", A.rows, lanes_for(A.entries, A.rows),
                  CountStrong{entries, offsets.data()});
    return left_out_of_counts(exec, A, offsets);
  };
  auto left_out = count_left_out();
  bool const tolerant =
      left_out > 0 && static_cast<double>(left_out) <= tolerated * static_cast<double>(A.entries);
  if (tolerant) {
    entries.all = true;
    left_out = count_left_out();
  }
  FilteredPattern<Exec> F{{static_cast<int>(A.rows), static_cast<int>(A.columns), offsets, {}},
                          {},
                          left_out == 0,
                          tolerant};
  F.pattern.indices = kept_array<int>(exec, arena, offsets_of_counts(exec, offsets));
  auto const indices = F.pattern.indices;
  if (F.whole && F.pattern.entries() == A.entries) {
    each(
        exec, "Blockspan::multigrid_filter", A.entries,
        KOKKOS_LAMBDA(std::int64_t k) { indices(k) = A.column_indices[k]; });
  } else {
    F.source = kept_array<int>(exec, arena, F.pattern.entries());
    each_by_lanes(exec, "Blockspan::multigrid_filter", A.rows, lanes_for(A.entries, A.rows),
                  ListStrong{entries, offsets.data(), indices.data(), F.source.data()});
  }
  exec.fence("Blockspan::multigrid_filter");
  return F;
}

/// to(p) := from(places(p)), zero for places(p) < 0; from(p) if places is empty.
template <class Exec, class Scalar>
void gather(Exec const& exec, Integers<Exec> const& places, Scalar const* from,
            Array<Scalar, Exec> const& to) {
  each(
      exec, "Blockspan::multigrid_gather", static_cast<std::int64_t>(to.extent(0)),
      KOKKOS_LAMBDA(std::int64_t p) {
        std::int64_t const place = places.extent(0) == 0 ? p : places(p);
        to(p) = place < 0 ? Scalar(0) : from[place];
      });
}

/// to(p) := conj(from(places(p))).
template <class Exec, class Scalar>
void gather_conjugates(Exec const& exec, Integers<Exec> const& places,
                       Array<Scalar, Exec> const& from, Array<Scalar, Exec> const& to) {
  each(
      exec, "Blockspan::multigrid_adjoint", static_cast<std::int64_t>(to.extent(0)),
      KOKKOS_LAMBDA(std::int64_t p) { to(p) = conjugate(from(places(p))); });
}

/// Adds to the diagonal of F the part of A b that F lacks, for a near-null vector b: F b = A b, so
/// that a prolongator smoothed with F preserves b wherever one smoothed with A would. Not in rows
/// where the diagonal would become less than half of the sum of magnitudes of the other entries.
template <class Scalar, class Exec>
struct AddLeftOut {
  MatrixRef<Scalar, int, int> A;
  PatternRef<int, int> F;
  Block<Scalar, Exec> b;  ///< one column
  Scalar* values;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = F.row_offsets[i], count = F.row_offsets[i + 1] - first;
    int const from = A.pattern.row_offsets[i], all = A.pattern.row_offsets[i + 1] - from;
    if (count >= all || b(i, 0) == Scalar(0)) return;
    Scalar const image = lanes.template sum<Scalar>(
        all, [&](int p) { return A.values[from + p] * b(A.pattern.column_indices[from + p], 0); });
    Scalar const kept = lanes.template sum<Scalar>(
        count, [&](int p) { return values[first + p] * b(F.column_indices[first + p], 0); });
    real_t<Scalar> const others = lanes.template sum<real_t<Scalar>>(count, [&](int p) {
      return F.column_indices[first + p] == i ? real_t<Scalar>(0) : Kokkos::abs(values[first + p]);
    });
    int const place = first + place_of(F.column_indices + first, 0, count, static_cast<int>(i));
    real_t<Scalar> const diagonal = real_part(values[place]) + real_part((image - kept) / b(i, 0));
    if (!(diagonal > 0) || !(diagonal >= others / 2) || others == 0) return;
    lanes.each(1, [&](int) { values[place] = Scalar(diagonal); });
  }
};

/// S := I - factor W S, row by row.
template <class Scalar>
struct SmoothRows {
  PatternRef<int, int> S;
  real_t<Scalar> const* weights;
  real_t<Scalar> factor;
  Scalar* values;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = S.row_offsets[i];
    auto const scale = -factor * weights[i];
    lanes.each(S.row_offsets[i + 1] - first, [&](int p) {
      int const k = first + p;
      values[k] = Scalar(S.column_indices[k] == i ? 1 : 0) + scale * values[k];
    });
  }
};

/// to := (C + C^H) / 2.
template <class Scalar>
struct HermitianRows {
  PatternRef<int, int> C;
  Scalar const* from;
  Scalar* to;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = C.row_offsets[i];
    lanes.each(C.row_offsets[i + 1] - first, [&](int p) {
      int const k = first + p, j = C.column_indices[k];
      int const partner =
          place_of(C.column_indices, C.row_offsets[j], C.row_offsets[j + 1], static_cast<int>(i));
      Scalar const mirror = partner < 0 ? Scalar(0) : conjugate(from[partner]);
      to[k] = (from[k] + mirror) * real_t<Scalar>(0.5);
    });
  }
};

/// |p_j|^H |A| |p_j| for column j of P.
template <class Scalar>
KOKKOS_FUNCTION real_t<Scalar> magnitude_energy(MatrixRef<Scalar, int, int> const& A,
                                                MatrixRef<Scalar, int, int> const& P,
                                                MatrixRef<Scalar, int, int> const& R,
                                                std::int64_t j) {
  real_t<Scalar> sum = 0;
  for (int r = R.pattern.row_offsets[j]; r < R.pattern.row_offsets[j + 1]; ++r) {
    int const i = R.pattern.column_indices[r];
    for (int a = A.pattern.row_offsets[i]; a < A.pattern.row_offsets[i + 1]; ++a) {
      int const k = A.pattern.column_indices[a];
      int const p = place_of(P.pattern.column_indices, P.pattern.row_offsets[k],
                             P.pattern.row_offsets[k + 1], static_cast<int>(j));
      if (p >= 0)
        sum += Kokkos::abs(R.values[r]) * Kokkos::abs(A.values[a]) * Kokkos::abs(P.values[p]);
    }
  }
  return sum;
}

/// Finds the columns of P that A maps to rounding errors, p_j^H A p_j <= 1e-12 |p_j|^H |A| |p_j|,
/// and removes them from `kept` (see Tentative::origin). C: P^H A P. Returns their number. Fences.
template <class Exec, class Scalar>
std::int64_t drop_null_columns(Exec const& exec, Arena<Exec>& arena,
                               MatrixRef<Scalar, int, int> const& A,
                               MatrixRef<Scalar, int, int> const& P,
                               MatrixRef<Scalar, int, int> const& R,
                               MatrixRef<Scalar, int, int> const& C, Integers<Exec> const& origin,
                               int per_aggregate, Integers<Exec> const& kept) {
  auto const roots = scratch_array<real_t<Scalar>>(exec, arena, A.pattern.rows);
  each(
      exec, "Blockspan::multigrid_diagonal_roots", A.pattern.rows, KOKKOS_LAMBDA(std::int64_t i) {
        auto const& a = A.pattern;
        int const d =
            place_of(a.column_indices, a.row_offsets[i], a.row_offsets[i + 1], static_cast<int>(i));
        roots(i) = d < 0 ? real_t<Scalar>(0) : Kokkos::sqrt(Kokkos::abs(A.values[d]));
      });
  return count_each(
      exec, "Blockspan::multigrid_spent", C.pattern.rows,
      KOKKOS_LAMBDA(std::int64_t j, std::int64_t & spent) {
        auto const& c = C.pattern;
        int const place =
            place_of(c.column_indices, c.row_offsets[j], c.row_offsets[j + 1], static_cast<int>(j));
        real_t<Scalar> const energy = place < 0 ? 0 : real_part(C.values[place]);
        // the bound by |a_ik| <= sqrt(a_ii a_kk) excludes nearly all columns
        real_t<Scalar> most = 0;
        for (int r = R.pattern.row_offsets[j]; r < R.pattern.row_offsets[j + 1]; ++r)
          most += Kokkos::abs(R.values[r]) * roots(R.pattern.column_indices[r]);
        real_t<Scalar> const little = real_t<Scalar>(1e-12);
        if (energy > little * most * most) return;
        if (energy > little * magnitude_energy(A, P, R, j)) return;
        ++spent;
        // several columns may belong to one aggregate: bits are cleared atomically
        Kokkos::atomic_and(&kept(origin(j) / per_aggregate), ~(1 << origin(j) % per_aggregate));
      });
}

}  // namespace blockspan::levels
