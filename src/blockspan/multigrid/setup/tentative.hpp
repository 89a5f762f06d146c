#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/multigrid/setup/graph.hpp>
#include <blockspan/multigrid/setup/lanes.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::levels {

/// The tentative prolongator T: in each aggregate an orthonormal basis Q of the rows of the
/// near-null vectors B, B = Q R. Coarse columns are those of Q, coarse near-null vectors the rows
/// of R, so that T B_coarse = B.
template <class Scalar, class Exec>
struct Tentative {
  int vectors = 0;        ///< columns of B, at most 16
  Integers<Exec> of_row;  ///< aggregate of a row, -1: none
  Array<Scalar, Exec> Q;  ///< rows x vectors
  Array<Scalar, Exec> R;  ///< aggregates x vectors x vectors
  Integers<Exec> kept;    ///< per aggregate a bit for each column of Q that is used
  int aggregates = 0;

  Pattern<Exec> pattern;       ///< of T
  Array<Scalar, Exec> values;  ///< of T
  Block<Scalar, Exec> near_null;
  NodePartition<Exec> nodes;  ///< coarse: one per aggregate
  Integers<Exec> origin;      ///< of coarse columns: 16 aggregate + column of Q
};

/// Gram-Schmidt, twice, of the rows of one aggregate. A column whose norm is reduced to at most
/// 1e-8 of its value is dropped. Columns are scaled by powers of two, so that their squares stay in
/// the range of numbers. On devices one warp per aggregate.
template <class Scalar>
struct OrthonormalizeAggregates {
  using Real = real_t<Scalar>;
  int const *begin, *rows;
  BlockRef<Scalar const> B;
  Scalar *Q, *R;
  int* kept;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t a) const {
    int const q = static_cast<int>(B.columns), first = begin[a], count = begin[a + 1] - first;
    Scalar* const r = R + a * q * q;
    lanes.each(q * q, [&](int k) { r[k] = Scalar(0); });
    auto const at = [&](int p, int k) -> Scalar& {
      return Q[static_cast<std::int64_t>(rows[first + p]) * q + k];
    };
    auto const norm = [&](int k) {
      return Kokkos::sqrt(
          lanes.template sum<Real>(count, [&](int p) { return squared_magnitude(at(p, k)); }));
    };
    int found = 0;
    for (int j = 0; j < q; ++j) {
      Real const size = lanes.template largest<Real>(
          count, [&](int p) { return largest_part(B(rows[first + p], j)); });
      Real const unit = power_of_two(size), scale = 1 / unit;
      lanes.each(count, [&](int p) { at(p, found) = scale * B(rows[first + p], j); });
      Real const before = norm(found);
      Scalar coefficients[most_rows_of_node] = {};
      for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < found; ++k) {
          Scalar const c = lanes.template sum<Scalar>(
              count, [&](int p) { return conjugate(at(p, k)) * at(p, found); });
          lanes.each(count, [&](int p) { at(p, found) -= c * at(p, k); });
          coefficients[k] += c;
        }
      Real const after = norm(found);
      lanes.each(found, [&](int k) { r[k * q + j] = unit * coefficients[k]; });
      if (!(after > Real(1e-8) * before)) continue;
      lanes.each(1, [&](int) { r[found * q + j] = Scalar(unit * after); });
      lanes.each(count, [&](int p) { at(p, found) *= 1 / after; });
      ++found;
    }
    lanes.each(1, [&](int) { kept[a] = (1 << found) - 1; });
  }
};

KOKKOS_INLINE_FUNCTION int bits_below(int mask, int bit) {
  int count = 0;
  for (int k = 0; k < bit; ++k) count += mask >> k & 1;
  return count;
}

/// Forms T, its near-null vectors and nodes from the columns that `kept` selects.
template <class Scalar, class Exec>
void form_tentative(Exec const& exec, Arena<Exec>& arena, Tentative<Scalar, Exec>& t) {
  int const q = t.vectors;
  std::int64_t const n = static_cast<std::int64_t>(t.of_row.extent(0)), m = t.aggregates;
  auto const of_row = t.of_row, kept = t.kept;
  auto const Q = t.Q, R = t.R;
  auto const begin = scratch_array<int>(exec, arena, m + 1),
             numbers = scratch_array<int>(exec, arena, m + 1),
             offsets = kept_array<int>(exec, arena, n + 1);
  each(
      exec, "Blockspan::multigrid_coarse_rows", m, KOKKOS_LAMBDA(std::int64_t a) {
        begin(a) = bits_below(kept(a), q);
        numbers(a) = kept(a) ? 1 : 0;
      });
  int const coarse = offsets_of_counts(exec, begin);
  each(
      exec, "Blockspan::multigrid_tentative_rows", n, KOKKOS_LAMBDA(std::int64_t i) {
        offsets(i) = of_row(i) < 0 ? 0 : bits_below(kept(of_row(i)), q);
      });
  t.nodes.count = offsets_of_counts(exec, numbers);
  t.nodes.largest = q;
  t.pattern = {static_cast<int>(n), coarse, offsets, {}};
  t.pattern.indices = kept_array<int>(exec, arena, offsets_of_counts(exec, offsets));
  t.values = kept_array<Scalar>(exec, arena, t.pattern.entries());
  t.near_null = allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", coarse, q);
  t.nodes.of_row = kept_array<int>(exec, arena, coarse);
  t.nodes.begin = kept_array<int>(exec, arena, t.nodes.count + 1);
  t.origin = kept_array<int>(exec, arena, coarse);
  auto const indices = t.pattern.indices, node_of = t.nodes.of_row, node_begin = t.nodes.begin,
             origin = t.origin;
  auto const values = t.values;
  auto const near_null = t.near_null;
  each(
      exec, "Blockspan::multigrid_tentative", n, KOKKOS_LAMBDA(std::int64_t i) {
        int const a = of_row(i);
        if (a < 0) return;
        int place = offsets(i), column = begin(a);
        for (int k = 0; k < q; ++k)
          if (kept(a) >> k & 1) {
            indices(place) = column++;
            values(place++) = Q(i * q + k);
          }
      });
  each(
      exec, "Blockspan::multigrid_coarse_vectors", m + 1, KOKKOS_LAMBDA(std::int64_t a) {
        if (a == m) {
          node_begin(numbers(m)) = coarse;
          return;
        }
        int row = begin(a);
        if (kept(a)) node_begin(numbers(a)) = row;
        for (int k = 0; k < q; ++k)
          if (kept(a) >> k & 1) {
            for (int j = 0; j < q; ++j) near_null(row, j) = R((a * q + k) * q + j);
            node_of(row) = numbers(a);
            origin(row++) = static_cast<int>(a) * most_rows_of_node + k;
          }
      });
  exec.fence("Blockspan::multigrid_tentative");
}

/// Computes the basis of every aggregate, and T with all its columns. B: rows x vectors.
template <class Scalar, class Exec>
Tentative<Scalar, Exec> make_tentative(Exec const& exec, Arena<Exec>& arena,
                                       Block<Scalar, Exec> const& B,
                                       NodePartition<Exec> const& nodes,
                                       Aggregates<Exec> const& aggregates) {
  auto const n = static_cast<std::int64_t>(B.extent(0));
  Tentative<Scalar, Exec> t;
  t.vectors = static_cast<int>(B.extent(1));
  t.aggregates = aggregates.count;
  t.of_row = kept_array<int>(exec, arena, n);
  auto const of_row = t.of_row, node_of = nodes.of_row, of_node = aggregates.of_node;
  each(
      exec, "Blockspan::multigrid_aggregate_of_row", n,
      KOKKOS_LAMBDA(std::int64_t i) { of_row(i) = of_node(node_of(i)); });
  auto const rows = members(exec, arena, of_row, aggregates.count);
  std::int64_t const q = t.vectors;
  t.Q = kept_array<Scalar>(exec, arena, n * q);
  t.R = kept_array<Scalar>(exec, arena, aggregates.count * q * q);
  t.kept = kept_array<int>(exec, arena, aggregates.count);
  ConstBlock<Scalar, Exec> const b = B;
  each_by_lanes(
      exec, "Blockspan::multigrid_orthonormalize", aggregates.count, 32,
      OrthonormalizeAggregates<Scalar>{rows.offsets.data(), rows.indices.data(), block_ref<Exec>(b),
                                       t.Q.data(), t.R.data(), t.kept.data()});
  form_tentative(exec, arena, t);
  return t;
}

}  // namespace blockspan::levels
