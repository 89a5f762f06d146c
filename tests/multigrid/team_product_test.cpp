// Sparse products and independent sets of a setup: teams by their numbers alone, as devices would
// launch them; what hosts do in one pass or along lists, against definitions and the ways of
// devices.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multigrid/setup/graph_impl.hpp>
#include <blockspan/multigrid/setup/team_product.hpp>

#include "support/types.hpp"

namespace blockspan::test {
namespace {

using levels::ProductTeams;
/// A matrix of random entries, whose columns ascend.
template <class Host>
struct RandomMatrix {
  levels::Pattern<Host> pattern;
  levels::Array<double, Host> values;

  /// most: entries of a row; within: how far its columns are from each other.
  RandomMatrix(int rows, int columns, int most, int within, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::set<int>> found(static_cast<std::size_t>(rows));
    std::size_t entries = 0;
    for (auto& row : found) {
      auto const below = [&](int n) {
        return static_cast<int>(random() % static_cast<unsigned>(n));
      };
      int const first = below(columns), count = below(most + 1);
      for (int k = 0; k < count; ++k) row.insert((first + below(within)) % columns);
      entries += row.size();
    }
    pattern = {rows, columns, levels::Integers<Host>("offsets", found.size() + 1),
               levels::Integers<Host>("indices", entries)};
    values = levels::Array<double, Host>("values", entries);
    int place = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (int const column : found[i]) {
        pattern.indices(place) = column;
        values(place++) = std::uniform_real_distribution<>(-1, 1)(random);
      }
      pattern.offsets(i + 1) = place;
    }
  }
  levels::MatrixRef<double, int, int> ref() const { return {pattern.ref(), values.data()}; }
};

template <class Host>
void expect_product(RandomMatrix<Host> const& A, RandomMatrix<Host> const& B) {
  Host const exec;
  support::Arena<Host> arena("Blockspan::test");
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  auto const C =
      levels::multiply_on_host<Host, double>(exec, arena, A.ref(), B.ref(), {}, {}, true, any);
  ASSERT_TRUE(C);
  auto const& pattern = C->pattern;
  for (int i = 0; i < A.pattern.rows; ++i) {
    std::map<int, double> row;
    for (int a = A.pattern.offsets(i); a < A.pattern.offsets(i + 1); ++a)
      for (int b = B.pattern.offsets(A.pattern.indices(a));
           b < B.pattern.offsets(A.pattern.indices(a) + 1); ++b)
        row[B.pattern.indices(b)] += A.values(a) * B.values(b);
    ASSERT_EQ(pattern.offsets(i + 1) - pattern.offsets(i), static_cast<int>(row.size())) << i;
    int k = pattern.offsets(i);
    for (auto const& [column, value] : row) {
      EXPECT_EQ(pattern.indices(k), column);
      EXPECT_NEAR(C->values(k++), value, 1e-14);  // tens of terms below one
    }
  }
  // to the bit as a refresh has them
  levels::Array<double, Host> const again("again", C->values.extent(0));
  levels::multiply_values<Host, double>(exec, arena, A.ref(), B.ref(), pattern, again);
  for (std::size_t k = 0; k < again.extent(0); ++k) EXPECT_EQ(again(k), C->values(k));
  auto const limited = [&](std::int64_t most) {
    return levels::multiply_on_host<Host, double>(exec, arena, A.ref(), B.ref(), {}, {}, true, most)
        .has_value();
  };
  EXPECT_TRUE(limited(pattern.entries()));
  EXPECT_FALSE(limited(pattern.entries() - 1));
}

template <class Host>
void expect_products() {
  using Matrix = RandomMatrix<Host>;
  auto const expect = [](Matrix const& A, Matrix const& B) { expect_product(A, B); };
  expect({40, 30, 6, 30, 1}, {30, 50, 5, 50, 2});
  expect({300, 200, 9, 12, 3}, {200, 1000, 7, 40, 4});       // columns near each other
  expect({300, 200, 9, 200, 5}, {200, 90000, 7, 90000, 6});  // and far apart
  expect({1, 500, 500, 500, 7}, {500, 2000, 20, 2000, 8});   // a hub
  expect({3, 1, 0, 1, 9}, {1, 4, 4, 4, 10});
}

template <class Host>
void expect_independent_sets() {
  Host const exec;
  support::Arena<Host> arena("Blockspan::test");
  for (unsigned seed = 1; seed < 6; ++seed) {
    int const n = 400;
    RandomMatrix<Host> const half(n, n, 4, seed % 2 == 0 ? 20 : n, seed);
    auto const other = levels::transposed(exec, arena, half.pattern);
    auto const edges =  // symmetric
        levels::multiply_patterns(exec, arena, half.pattern.ref(), other.pattern.ref());
    levels::Integers<Host> const in_play("in play", n);
    for (int i = 0; i < n; ++i) in_play(i) = (i * 7 + static_cast<int>(seed)) % 5 > 0 ? 1 : 0;
    levels::IndependentSet<Host> listed(exec, arena, edges), plain(exec, arena, edges);
    int const rounds = listed.find(in_play);
    plain.start(in_play);
    int round = 0;
    while (plain.play(round++) > 0) continue;
    EXPECT_EQ(rounds, round);
    for (int i = 0; i < n; ++i) EXPECT_EQ(listed.state(i), plain.state(i)) << i;
  }
}

template <class Exec>
class SetupOnHosts : public ::testing::Test {};
TYPED_TEST_SUITE(SetupOnHosts, Backends);

TYPED_TEST(SetupOnHosts, FindsAndAddsUpProductsInOnePass) {
  if constexpr (support::runs_on_host_v<TypeParam>)
    expect_products<TypeParam>();
  else
    GTEST_SKIP() << "a device takes teams";
}

/// Along lists, as hosts look for it, against round after round of all nodes.
TYPED_TEST(SetupOnHosts, FindsTheIndependentSetOfAllNodesAlongLists) {
  if constexpr (support::runs_on_host_v<TypeParam>)
    expect_independent_sets<TypeParam>();
  else
    GTEST_SKIP() << "a device takes rounds of all nodes";
}

/// The largest team that Kokkos finds on HIP: that of the first block, of 128 threads, 64, ... down
/// to a wavefront, whose threads all have their scratch; 0: there is none, and a launch throws.
int largest_team(ProductTeams const& teams, int wavefront, std::size_t scratch) {
  for (int block = ProductTeams::threads; block >= wavefront; block /= 2) {
    auto const threads = static_cast<std::size_t>(block / teams.lanes);
    if (16 + threads * (teams.bytes_of_thread() + sizeof(double)) <= scratch)
      return block / teams.lanes;
  }
  return 0;
}

TEST(ProductTeams, FitTheScratchOfDevices) {
  constexpr std::int64_t rows = 1000;
  for (std::int64_t const mean : {1, 3, 7, 20, 60, 300})
    for (std::int64_t const wanted : {1, 30, 129, 1025, 20000})
      for (std::size_t const bytes : {8, 12, 28, 100}) {
        SCOPED_TRACE(std::to_string(mean) + " entries a row, " + std::to_string(wanted) +
                     " places of " + std::to_string(bytes) + " bytes");
        levels::PatternRef<int, int> const B{rows, rows, mean * rows, nullptr, nullptr};
        ProductTeams const on_cuda(B, wanted, bytes, 32), on_hip(B, wanted, bytes, 64);
        for (auto const& teams : {on_cuda, on_hip}) {
          EXPECT_GE(teams.rows, 1);
          EXPECT_GE(teams.room, 1);
          EXPECT_LE(teams.rows * teams.lanes, ProductTeams::threads);
          auto const all = static_cast<std::size_t>(teams.rows) * teams.bytes_of_thread();
          EXPECT_LE(all, std::size_t{46} << 10);  // of 48 KiB Kokkos keeps some
        }
        EXPECT_GE(largest_team(on_hip, 64, std::size_t{64} << 10), on_hip.rows);
      }
}

}  // namespace
}  // namespace blockspan::test
