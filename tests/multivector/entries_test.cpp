// Which entries of a block the tasks of a device work on; the tasks run here one after the other.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/blocks/entries.hpp>

namespace blockspan::test {
namespace {

namespace blocks = blockspan::blocks;

struct Visit {
  std::int64_t rows;
  int *loads, *visits, *wrong;

  KOKKOS_FUNCTION std::int64_t place(std::int64_t i, std::int64_t j) const { return i + j * rows; }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const { ++visits[place(i, j)]; }
};

/// What was loaded of an entry belongs to it.
struct LoadAndVisit : Visit {
  using Operands = std::int64_t;
  KOKKOS_FUNCTION std::int64_t load(std::int64_t i, std::int64_t j) const {
    ++loads[place(i, j)];
    return place(i, j);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t loaded) const {
    if (loaded != place(i, j)) ++*wrong;
    ++visits[place(i, j)];
  }
};

template <class Entry>
void expect_each_once(std::int64_t rows, std::int64_t columns, bool down) {
  std::vector<int> loads(static_cast<std::size_t>(rows * columns)), visits = loads;
  int wrong = 0;
  Entry const entry{rows, loads.data(), visits.data(), &wrong};
  blocks::EntriesOfTask<Entry> const tasks(entry, rows, columns, down);
  for (std::int64_t task = 0; task < tasks.tasks; ++task) tasks(task);
  std::vector<int> const once(visits.size(), 1);
  EXPECT_EQ(visits, once) << rows << " x " << columns << (down ? ", down" : "");
  if constexpr (blocks::LoadsFirst<Entry>) {
    EXPECT_EQ(loads, once) << rows << " x " << columns;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(EntriesOfTask, VisitEveryEntryOnce) {
  for (std::int64_t const rows : {1, 2, 3, 5, 31, 257})
    for (std::int64_t const columns : {1, 2, 3, 4, 7, 32, 33})
      for (bool const down : {false, true}) {
        expect_each_once<Visit>(rows, columns, down);
        expect_each_once<LoadAndVisit>(rows, columns, down);
      }
}

}  // namespace
}  // namespace blockspan::test
