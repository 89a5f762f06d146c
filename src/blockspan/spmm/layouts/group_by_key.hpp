#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>

#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arena.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::products {

/// What group_by_key launches, by tag. Atomics place the items of a group in any order; a rank sort
/// within each group restores theirs.
template <class Key>
struct GroupByKey {
  struct Count {};
  struct Place {};
  struct Rank {};
  struct MakeKeys {};
  struct TakeItems {};
  struct Totals {
    std::int64_t sum;
    int most;
  };
  using value_type = Totals;  ///< of the prefix sum

  Key const* keys;
  std::int64_t keys_end;
  int* counts;   ///< of a key's items, and then of those without a place
  int* offsets;  ///< keys_end + 1
  int *places, *items;
  std::uint64_t* pairs;
  int bits;  ///< of an item in a pair

  KOKKOS_FUNCTION void operator()(Count, std::int64_t i) const {
    if (keys[i] >= 0) Kokkos::atomic_inc(counts + keys[i]);
  }

  KOKKOS_FUNCTION void init(Totals& totals) const { totals = {0, 0}; }
  KOKKOS_FUNCTION void join(Totals& to, Totals const& from) const {
    to.sum += from.sum;
    if (from.most > to.most) to.most = from.most;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t key, Totals& totals, bool last) const {
    int const count = key < keys_end ? counts[key] : 0;
    if (last) offsets[key] = static_cast<int>(totals.sum);
    join(totals, {count, count});
  }

  KOKKOS_FUNCTION void operator()(Place, std::int64_t i) const {
    if (keys[i] < 0) return;
    int const left = Kokkos::atomic_fetch_sub(counts + keys[i], 1);
    places[offsets[keys[i]] + left - 1] = static_cast<int>(i);
  }
  KOKKOS_FUNCTION void operator()(Rank, std::int64_t p) const {
    int const item = places[p], first = offsets[keys[item]], end = offsets[keys[item] + 1];
    int rank = first;
    for (int other = first; other < end; ++other) rank += places[other] < item ? 1 : 0;
    items[rank] = item;
  }

  /// Items without a key come last.
  KOKKOS_FUNCTION void operator()(MakeKeys, std::int64_t i) const {
    std::int64_t const key = keys[i] < 0 ? keys_end : keys[i];
    pairs[i] = static_cast<std::uint64_t>(key) << bits | static_cast<std::uint64_t>(i);
  }
  KOKKOS_FUNCTION void operator()(TakeItems, std::int64_t p) const {
    items[p] = static_cast<int>(pairs[p] & ((std::uint64_t{1} << bits) - 1));
  }
};

/// The device's way: count, add up, distribute, rank; groups too large for that are sorted.
template <class Exec, class Key>
std::int64_t group_on_device(Exec const& exec, Arena<Exec>& arena, GroupByKey<Key> group,
                             std::int64_t n) {
  using Group = GroupByKey<Key>;
  constexpr int most_ranked = 1024;
  auto const each = [&]<class Tag>(Tag, char const* label, std::int64_t count) {
    Kokkos::parallel_for(label, IndexRange<Exec, Tag>(exec, 0, count), group);
  };
  auto const counts = scratch_array<int>(exec, arena, group.keys_end + 1);
  group.counts = counts.data();
  Kokkos::deep_copy(exec, counts, 0);
  if (n > 0) each(typename Group::Count{}, "Blockspan::spmm_plan::count_keys", n);
  typename Group::Totals totals{0, 0};
  Kokkos::parallel_scan("Blockspan::spmm_plan::group_offsets",
                        IndexRange<Exec>(exec, 0, group.keys_end + 1), group, totals);
  exec.fence("Blockspan::spmm_plan::group_offsets");
  if (totals.sum == 0) return 0;
  if (totals.most <= most_ranked) {
    auto const places = scratch_array<int>(exec, arena, totals.sum);
    group.places = places.data();
    each(typename Group::Place{}, "Blockspan::spmm_plan::place", n);
    each(typename Group::Rank{}, "Blockspan::spmm_plan::rank", totals.sum);
    exec.fence("Blockspan::spmm_plan::group_by_key");  // places may be freed
    return totals.sum;
  }
  group.bits = bits_to_hold(n, 63);
  require(group.bits + bits_to_hold(group.keys_end + 1, 63) <= 64, "blockspan::SpmmPlan",
          "cannot sort ", n, " entries of ", group.keys_end,
          " columns: (column, place) does not fit 64 bits");
  auto const pairs = scratch_array<std::uint64_t>(exec, arena, n);
  group.pairs = pairs.data();
  each(typename Group::MakeKeys{}, "Blockspan::spmm_plan::make_keys", n);
  Kokkos::sort(exec, pairs);
  each(typename Group::TakeItems{}, "Blockspan::spmm_plan::take_items", totals.sum);
  exec.fence("Blockspan::spmm_plan::group_by_key");
  return totals.sum;
}

/// The host's way, on one thread: put(place, i) for all items with a key, i ascending.
template <class Key, class Put>
std::int64_t group_on_host(Key const* keys, std::int64_t n, std::int64_t keys_end, int* offsets,
                           Put&& put) {
  for (std::int64_t key = 0; key <= keys_end; ++key) offsets[key] = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (keys[i] >= 0) ++offsets[keys[i] + 1];
  for (std::int64_t key = 0; key < keys_end; ++key) offsets[key + 1] += offsets[key];
  for (std::int64_t i = 0; i < n; ++i)
    if (keys[i] >= 0) put(offsets[keys[i]]++, static_cast<int>(i));
  // each offset is now the end of its group, the begin of the next
  for (std::int64_t key = keys_end; key > 0; --key) offsets[key] = offsets[key - 1];
  offsets[0] = 0;
  return offsets[keys_end];
}

template <class Exec, class Key>
std::int64_t group_by_key(Exec const& exec, Arena<Exec>& arena, Key const* keys, std::int64_t n,
                          std::int64_t keys_end, int* offsets, int* items) {
  if constexpr (runs_on_host_v<Exec>) {
    exec.fence("Blockspan::spmm_plan::group_by_key");
    return group_on_host(keys, n, keys_end, offsets, [&](int place, int i) { items[place] = i; });
  } else {
    GroupByKey<Key> const group{keys, keys_end, nullptr, offsets, nullptr, items, nullptr, 0};
    return group_on_device(exec, arena, group, n);
  }
}

}  // namespace blockspan::products
