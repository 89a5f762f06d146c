// A test of a detail: what partition and schedule promise each other.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/published/kernels/tile_impl.hpp>
#include <blockspan/spmm/layouts/cut_rows.hpp>
#include <blockspan/spmm/layouts/group_by_key.hpp>
#include <blockspan/spmm/layouts/row_tiles.hpp>
#include <blockspan/spmm/layouts/transpose.hpp>
#include <blockspan/spmm/parts/cut_tiles.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Exec>
class Cuts : public ::testing::Test {};
TYPED_TEST_SUITE(Cuts, Backends, ConfigNames);

template <class Exec>
void expect_every_entry_once(Exec const& exec, HostMatrix<double> const& host,
                             std::int64_t segment) {
  auto const A = to_device(exec, host);
  auto const list =
      kernels::cut_long_rows(exec, kernels::pattern_ref<Exec>(A), {.longest = segment});
  auto const target = on_host(list.target);
  auto const first = on_host(list.first);
  auto const last = on_host(list.last);
  auto const cut_row = on_host(list.cut_row);
  auto const cut_slot = on_host(list.cut_slot);
  ASSERT_EQ(static_cast<std::int64_t>(target.size()), list.segments);
  std::vector<std::int64_t> row_of_slot(static_cast<std::size_t>(list.slots), -1);
  auto const slot_row = on_host(list.slot_row);
  for (std::size_t i = 0; i < cut_row.size(); ++i)
    for (int slot = cut_slot[i]; slot < cut_slot[i + 1]; ++slot) {
      row_of_slot[slot] = cut_row[i];
      EXPECT_EQ(slot_row[slot], static_cast<int>(i));
    }

  // segments follow each other through all entries, and each lies in the row that it goes to
  std::int64_t next_entry = 0, next_row = 0, next_slot = 0;
  for (std::int64_t p = 0; p < list.segments; ++p) {
    EXPECT_EQ(first[p], next_entry);
    next_entry = last[p];
    bool const complete = target[p] >= 0;
    std::int64_t const row = complete ? target[p] : row_of_slot[-1 - target[p]];
    if (!complete) {
      EXPECT_EQ(-1 - target[p], next_slot);
      ++next_slot;
    }
    EXPECT_LE(host.offsets[row], first[p]);
    EXPECT_LE(next_entry, host.offsets[row + 1]);
    EXPECT_LE(next_entry - first[p], segment);
    EXPECT_EQ(complete, host.offsets[row + 1] - host.offsets[row] <= segment);
    if (first[p] == host.offsets[row]) {
      EXPECT_EQ(row, next_row);
    }
    if (next_entry == host.offsets[row + 1]) next_row = row + 1;
  }
  EXPECT_EQ(next_entry, host.offsets.back());
  EXPECT_EQ(next_row, host.rows);
  EXPECT_EQ(next_slot, list.slots);
}

TYPED_TEST(Cuts, CoverEveryEntryExactlyOnce) {
  TypeParam const exec;
  for (auto const& host : battery<double>())
    for (std::int64_t const segment : {1, 2, 7, 64, 1000}) {
      if (host.rows == 0) continue;
      SCOPED_TRACE(host.name + ", segments of " + std::to_string(segment));
      expect_every_entry_once(exec, host, segment);
    }
}

TYPED_TEST(Cuts, ArePiecesOfEqualLength) {
  TypeParam const exec;
  auto const A = to_device(exec, random_matrix<double>("one", 1, 9, [](auto) { return 100; }));
  auto const list =
      kernels::cut_long_rows(exec, kernels::pattern_ref<TypeParam>(A), {.longest = 30});
  EXPECT_EQ(on_host(list.first), (std::vector<int>{0, 25, 50, 75}));
  EXPECT_EQ(on_host(list.last), (std::vector<int>{25, 50, 75, 100}));
}

TYPED_TEST(Cuts, LeaveEmptyRowsOutWhenTold) {
  TypeParam const exec;
  auto const A = to_device(exec, random_matrix<double>("some empty", 9, 9, [](std::int64_t i) {
                             return i % 3 == 1 ? 5 : 0;
                           }));
  auto const list = kernels::cut_long_rows(exec, kernels::pattern_ref<TypeParam>(A),
                                           {.longest = 3, .skip_empty = true});
  EXPECT_EQ(on_host(list.first), (std::vector<int>{0, 3, 5, 8, 10, 13}));
  EXPECT_EQ(on_host(list.last), (std::vector<int>{3, 5, 8, 10, 13, 15}));
  EXPECT_EQ(on_host(list.cut_row), (std::vector<int>{1, 4, 7}));
}

TYPED_TEST(Cuts, AreSortedIntoClassesInAFixedOrder) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    auto const A = to_device(exec, host);
    auto const pattern = kernels::pattern_ref<TypeParam>(A);
    auto const list = kernels::cut_long_rows(exec, pattern, {.longest = 40});
    auto const sorted = kernels::cut_long_rows(exec, pattern, {.longest = 40, .sorted = true});
    std::vector<std::array<int, 3>> before, after;
    auto const collect = [&](auto const& from, auto& to) {
      auto const target = on_host(from.target), first = on_host(from.first),
                 last = on_host(from.last);
      for (std::size_t p = 0; p < target.size(); ++p) to.push_back({target[p], first[p], last[p]});
    };
    collect(list, before);
    collect(sorted, after);
    auto const length_class = [](auto const& segment) {
      return std::bit_width(static_cast<unsigned>(segment[2] - segment[1]));
    };
    std::stable_sort(before.begin(), before.end(), [&](auto const& x, auto const& y) {
      return length_class(x) > length_class(y);
    });
    EXPECT_EQ(before, after) << host.name;
  }
}

/// Walks the parts of all tiles as a kernel would; they follow each other through all entries, and
/// the slots of a cut row are its parts in order.
template <class List>
void expect_tiles_cover(HostMatrix<double> const& host, List const& list) {
  auto const row = on_host(list.row);
  auto const entry = on_host(list.entry);
  auto const slot = on_host(list.slot);
  auto const cut_row = on_host(list.cut_row);
  auto const cut_slot = on_host(list.cut_slot);
  auto const slot_row = on_host(list.slot_row);
  std::vector<int> const offsets(host.offsets.begin(), host.offsets.end());
  kernels::CutTiles<double, int> const tiles{{},         {},           offsets.data(),
                                             row.data(), entry.data(), slot.data()};
  std::vector<std::int64_t> row_of_slot(static_cast<std::size_t>(list.slots), -1);
  for (std::size_t i = 0; i < cut_row.size(); ++i)
    for (int s = cut_slot[i]; s < cut_slot[i + 1]; ++s) {
      row_of_slot[s] = cut_row[i];
      EXPECT_EQ(slot_row[s], static_cast<int>(i));
    }
  std::int64_t next_entry = 0, next_row = 0, next_slot = 0;
  for (std::int64_t t = 0; t < list.tiles; ++t)
    for (std::int64_t p = 0; p < tiles.parts(t); ++p) {
      auto const part = tiles.part(t, p);
      ASSERT_EQ(part.first, next_entry);
      next_entry = part.last;
      if (!part.complete()) {
        ASSERT_EQ(part.slot(), next_slot++);
      }
      std::int64_t const i = part.complete() ? part.row() : row_of_slot[part.slot()];
      ASSERT_EQ(i, next_row);
      ASSERT_EQ(part.complete(), part.first == host.offsets[i] && part.last == host.offsets[i + 1]);
      if (part.last == host.offsets[i + 1]) next_row = i + 1;
    }
  EXPECT_EQ(next_entry, host.offsets.back());
  EXPECT_EQ(next_row, host.rows);
  EXPECT_EQ(next_slot, list.slots);
}

TYPED_TEST(Cuts, OfTilesCoverEveryEntryExactlyOnce) {
  TypeParam const exec;
  for (auto const& host : battery<double>())
    for (std::int64_t const work : {1, 2, 7, 64, 1000}) {
      if (host.rows == 0) continue;
      SCOPED_TRACE(host.name + ", tiles of " + std::to_string(work));
      auto const matrix = to_device(exec, host);
      auto const pattern = kernels::pattern_ref<TypeParam>(matrix);
      auto const entries = static_cast<std::int64_t>(host.values.size());
      for (bool const with_rows : {false, true}) {
        auto const list = published::cut_equal_tiles(exec, pattern, entries, with_rows, work);
        expect_tiles_cover(host, list);
        auto const entry = on_host(list.entry);
        auto const row = on_host(list.row);
        for (std::int64_t t = 0; t < list.tiles; ++t) {
          std::int64_t const rows = with_rows ? row[t + 1] - row[t] : 0;
          // a row that has ended at the tile's begin may be counted with the tile before
          EXPECT_LE(entry[t + 1] - entry[t] + rows, work + 1);
        }
      }
      for (std::int64_t const row_work : {1, 3})
        expect_tiles_cover(host, kernels::cut_row_classes(
                                     exec, pattern, {work, row_work, work / 4 + 1, 2 * work}));
    }
}

TYPED_TEST(Cuts, OfRowClassesFitWhatATeamHolds) {
  TypeParam const exec;
  auto const host = random_matrix<double>(
      "uneven", 500, 90, [](std::int64_t i) { return i % 60 == 7 ? 300 : i % 17; });
  auto const A = to_device(exec, host);
  for (int const alone : {1, 12, 32}) {
    auto const list =
        kernels::cut_row_classes(exec, kernels::pattern_ref<TypeParam>(A), {32, 2, alone, 100});
    auto const row = on_host(list.row);
    auto const entry = on_host(list.entry);
    for (std::int64_t t = 0; t < list.tiles; ++t) {
      bool const one_row = row[t + 1] - row[t] <= 1;
      EXPECT_LE(entry[t + 1] - entry[t], one_row ? 100 : 32 + alone);
      EXPECT_LE(row[t + 1] - row[t], 32 / 2);
      for (int i = row[t]; !one_row && i < row[t + 1]; ++i)
        EXPECT_LE(host.offsets[i + 1] - host.offsets[i], alone);
    }
  }
}

TYPED_TEST(Cuts, SortedRowsAscendAndKeepTheirEntries) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    if (host.rows == 0) continue;
    auto const A = to_device(exec, host);
    auto const pattern = kernels::pattern_ref<TypeParam>(A);
    auto const S = kernels::sort_rows(exec, pattern, static_cast<std::int64_t>(host.values.size()));
    EXPECT_TRUE(kernels::summarize(exec, S.ref()).sorted);
    auto const offsets = on_host(S.row_offsets);
    auto const columns = on_host(S.column_indices);
    auto const places = on_host(S.permutation);
    for (std::int64_t row = 0; row <= host.rows; ++row) EXPECT_EQ(offsets[row], host.offsets[row]);
    bool sorted = true;
    for (std::int64_t row = 0; row < host.rows; ++row)
      for (int k = offsets[row]; k < offsets[row + 1]; ++k) {
        EXPECT_EQ(columns[k], host.indices[places[k]]);
        EXPECT_TRUE(host.offsets[row] <= places[k] && places[k] < host.offsets[row + 1]);
        bool const before = k > offsets[row];
        if (before && columns[k] == columns[k - 1]) {
          EXPECT_LT(places[k - 1], places[k]);
        }
        sorted = sorted && !(before && host.indices[k] < host.indices[k - 1]);
      }
    EXPECT_EQ(kernels::summarize(exec, pattern).sorted, sorted) << host.name;
  }
}

TYPED_TEST(Cuts, TransposedPatternListsEveryEntryInOrder) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    auto const A = to_device(exec, host);
    auto const T = kernels::transpose_pattern(exec, kernels::pattern_ref<TypeParam>(A),
                                              static_cast<std::int64_t>(host.values.size()));
    auto const offsets = on_host(T.row_offsets);
    auto const columns = on_host(T.column_indices);
    auto const places = on_host(T.permutation);
    ASSERT_EQ(static_cast<std::int64_t>(offsets.size()), host.columns + 1);
    EXPECT_EQ(offsets.front(), 0);
    EXPECT_EQ(offsets.back(), static_cast<int>(host.values.size()));
    for (std::int64_t row = 0; row < host.columns; ++row)
      for (int k = offsets[row]; k < offsets[row + 1]; ++k) {
        EXPECT_EQ(host.indices[places[k]], row);
        EXPECT_LE(host.offsets[columns[k]], places[k]);
        EXPECT_LT(places[k], host.offsets[columns[k] + 1]);
        if (k > offsets[row]) {
          EXPECT_LT(places[k - 1], places[k]);
        }
      }
  }
}

TYPED_TEST(Cuts, ItemsAreGroupedByTheirKeys) {
  TypeParam const exec;
  // keys that nobody has, items without a key, and one key with more items than devices rank
  for (auto const& [items, keys, hub] : {std::array{0, 3, 0}, std::array{40, 7, 0},
                                         std::array{1, 1, 0}, std::array{5000, 11, 3000}}) {
    Kokkos::View<int*, Kokkos::HostSpace> const host("keys", items);
    std::vector<std::vector<int>> expected(keys);
    for (int i = 0; i < items; ++i) {
      host(i) = i % 3 == 0 && i < hub ? keys / 2 : (i * 7919 + 5) % (2 * keys);
      if (host(i) >= keys || host(i) == 0) host(i) = -1;
      if (host(i) >= 0) expected[host(i)].push_back(i);
    }
    auto const device =
        Kokkos::create_mirror_view_and_copy(typename TypeParam::memory_space(), host);
    Kokkos::View<int*, typename TypeParam::memory_space> const offsets("offsets", keys + 1),
        grouped("items", items);
    kernels::Arena<TypeParam> arena("Blockspan::test");
    auto const found = kernels::group_by_key(exec, arena, device.data(), items, keys,
                                             offsets.data(), grouped.data());
    auto const begin = on_host(offsets), list = on_host(grouped);
    ASSERT_EQ(begin.back(), found);
    for (int key = 0; key < keys; ++key)
      EXPECT_EQ(expected[key],
                std::vector<int>(list.begin() + begin[key], list.begin() + begin[key + 1]))
          << "key " << key << " of " << keys;
  }
}

}  // namespace
}  // namespace blockspan::test
