#pragma once

#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/group_by_key.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/support/arena.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// For sampled rows: the entries of each together with those of the following rows, and with those
/// of the rows that its columns refer to; and the number of distinct columns among them. A work
/// item an entry of a row of such a set, which looks its column up in the rows before it.
template <class Ordinal>
struct SampleClusters {
  using value_type = ClusterSample;
  static constexpr int rows_of_set = tuning::cluster_sample_rows,
                       entries_of_row = tuning::cluster_sample_entries;
  static constexpr std::int64_t items_of_set = std::int64_t{rows_of_set} * entries_of_row;
  PatternRef<int, Ordinal> A;
  std::int64_t stride;  ///< from a sampled row to the next

  KOKKOS_FUNCTION void operator()(std::int64_t item, ClusterSample& sum) const {
    std::int64_t const first = item / items_of_set * stride;
    auto const i = static_cast<int>(item % items_of_set / entries_of_row);
    auto const entry = static_cast<int>(item % entries_of_row);
    count(i, entry, sum.of_neighbours,
          [&](int k) { return first + k < A.rows ? first + k : std::int64_t{-1}; });
    count(i, entry, sum.of_clusters, [&](int k) -> std::int64_t {
      if (k == 0) return first;
      int const place = A.row_offsets[first] + k - 1;
      if (place >= A.row_offsets[first + 1]) return -1;
      auto const row = static_cast<std::int64_t>(A.column_indices[place]);
      return row == first || row >= A.rows ? -1 : row;
    });
  }
  KOKKOS_FUNCTION void init(ClusterSample& sum) const { sum = {}; }
  KOKKOS_FUNCTION void join(ClusterSample& to, ClusterSample const& from) const {
    add(to.of_neighbours, from.of_neighbours);
    add(to.of_clusters, from.of_clusters);
  }

 private:
  static KOKKOS_FUNCTION void add(SharedColumns& to, SharedColumns const& from) {
    to.entries += from.entries;
    to.columns += from.columns;
  }
  KOKKOS_FUNCTION int end_of(std::int64_t row) const {
    int const begin = A.row_offsets[row], end = A.row_offsets[row + 1];
    return end - begin > entries_of_row ? begin + entries_of_row : end;
  }
  KOKKOS_FUNCTION bool has(std::int64_t row, Ordinal column) const {
    for (int k = A.row_offsets[row]; k < end_of(row); ++k)
      if (A.column_indices[k] == column) return true;
    return false;
  }
  /// An entry of the i-th of the rows row_of(0), row_of(1), ...; negative ones are absent.
  template <class RowOf>
  KOKKOS_FUNCTION void count(int i, int entry, SharedColumns& sum, RowOf const& row_of) const {
    std::int64_t const row = row_of(i);
    if (row < 0) return;
    int const k = A.row_offsets[row] + entry;
    if (k >= end_of(row)) return;
    bool found = false;
    for (int other = 0; other < i && !found; ++other) {
      std::int64_t const before = row_of(other);
      found = before >= 0 && has(before, A.column_indices[k]);
    }
    ++sum.entries;
    sum.columns += found ? 0 : 1;
  }
};

/// O(samples): a launch and a wait.
template <class Exec, class Ordinal>
ClusterSample sample_clusters(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  ClusterSample sample;
  if (A.rows == 0) return sample;
  std::int64_t const stride = ceil_div(A.rows, tuning::cluster_samples);
  std::int64_t const sets = ceil_div(A.rows, stride);
  using Sample = SampleClusters<Ordinal>;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::sample_clusters",
                          IndexRange<Exec>(exec, 0, sets * Sample::items_of_set), Sample{A, stride},
                          sample);
  return sample;
}

/// Rows join the cluster of a neighbour, all at once, until each has one. The kernels, by tag;
/// labels are rows, the seeds of clusters, or -1.
template <class Ordinal>
struct GrowClusters {
  struct Begin {};
  struct Finish {};
  PatternRef<int, Ordinal> A;
  std::uint64_t rows_of_seed;
  int *from, *to;

  /// Seeds are chosen by a hash of the row index, whatever the order of the matrix.
  KOKKOS_FUNCTION void operator()(Begin, std::int64_t row) const {
    from[row] = mix_bits(static_cast<std::uint64_t>(row) + 1) % rows_of_seed == 0
                    ? static_cast<int>(row)
                    : -1;
  }
  /// Counts those that are still alone.
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& alone) const {
    int label = from[row];
    for (int k = A.row_offsets[row]; label < 0 && k < A.row_offsets[row + 1]; ++k)
      if (A.column_indices[k] < A.rows) label = from[A.column_indices[k]];
    to[row] = label;
    alone += label < 0 ? 1 : 0;
  }
  KOKKOS_FUNCTION void operator()(Finish, std::int64_t row) const {
    if (from[row] < 0) from[row] = static_cast<int>(row);
  }
};

/// The seed of each row's cluster: about one of `rows_of_seed` rows is one. Waits for the instance.
template <class Exec, class Ordinal>
Array<int, Exec> grow_clusters(Exec const& exec, Arena<Exec>& arena,
                               PatternRef<int, Ordinal> const& A, std::int64_t rows_of_seed) {
  using Grow = GrowClusters<Ordinal>;
  auto labels = scratch_array<int>(exec, arena, A.rows);
  auto next = scratch_array<int>(exec, arena, A.rows);
  Grow grow{A, static_cast<std::uint64_t>(rows_of_seed), labels.data(), next.data()};
  Kokkos::parallel_for("Blockspan::spmm_plan::cluster_seeds",
                       IndexRange<Exec, typename Grow::Begin>(exec, 0, A.rows), grow);
  for (std::int64_t before = A.rows, alone = A.rows - 1; alone > 0 && alone < before;) {
    before = alone;
    Kokkos::parallel_reduce("Blockspan::spmm_plan::grow_clusters",
                            IndexRange<Exec>(exec, 0, A.rows), grow, alone);
    std::swap(grow.from, grow.to);
    std::swap(labels, next);
  }
  Kokkos::parallel_for("Blockspan::spmm_plan::lone_rows",
                       IndexRange<Exec, typename Grow::Finish>(exec, 0, A.rows), grow);
  exec.fence("Blockspan::spmm_plan::grow_clusters");
  return labels;
}

/// keys[i] = labels[fine[rows[i]]]
struct LabelsOfSeeds {
  int const *labels, *fine, *rows;
  int* keys;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { keys[i] = labels[fine[rows[i]]]; }
};
/// order[i] = rows[places[i]]
template <class Ordinal>
struct TakeRows {
  int const *rows, *places;
  Ordinal* order;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    order[i] = static_cast<Ordinal>(rows[places[i]]);
  }
};

/// An order of the rows of a square pattern in which neighbours share columns: clusters one after
/// the other, those of a larger cluster together, and rows of one as they are. Depends on the
/// pattern alone. A few passes over the columns, and two over the rows to sort them: some products'
/// time. Waits for the instance.
template <class Exec, class Ordinal>
RowArray<Exec, Ordinal> cluster_rows(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  auto const order =
      allocate<RowArray<Exec, Ordinal>>(exec, "Blockspan::spmm_plan::row_order", A.rows);
  Arena<Exec> arena("Blockspan::spmm_plan");
  auto const fine = grow_clusters(exec, arena, A, tuning::rows_of_cluster);
  auto const coarse = grow_clusters(exec, arena, A, tuning::rows_of_large_cluster);
  auto const [rows, keys, places] = scratch_arrays<int, 3>(exec, arena, A.rows);
  auto const offsets = scratch_array<int>(exec, arena, A.rows + 1);
  IndexRange<Exec> const all(exec, 0, A.rows);
  group_by_key(exec, arena, static_cast<int const*>(fine.data()), A.rows, A.rows, offsets.data(),
               rows.data());
  Kokkos::parallel_for("Blockspan::spmm_plan::large_clusters", all,
                       LabelsOfSeeds{coarse.data(), fine.data(), rows.data(), keys.data()});
  group_by_key(exec, arena, static_cast<int const*>(keys.data()), A.rows, A.rows, offsets.data(),
               places.data());
  Kokkos::parallel_for("Blockspan::spmm_plan::order_rows", all,
                       TakeRows<Ordinal>{rows.data(), places.data(), order.data()});
  exec.fence("Blockspan::spmm_plan::cluster_rows");
  return order;
}

}  // namespace blockspan::products
