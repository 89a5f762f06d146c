// Orders of rows over ranks: permutations, the permuted matrix against the caller's, blocks there
// and back, and what the partitioners promise.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/row_order.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#ifdef BLOCKSPAN_HAS_METIS
#include <blockspan/distributed/metis.hpp>
#endif
#ifdef BLOCKSPAN_HAS_SCOTCH
#include <blockspan/distributed/scotch.hpp>
#endif

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using Rows = LocalRows<double>;
using Parts = std::vector<int>;
using Partitioner = std::function<RowOrder(RowPartition const&, RowPattern const&)>;

Parts parts_by_hash(RowPartition const& from) {
  Parts parts;
  for (auto i = from.first(world().rank()); i < from.last(world().rank()); ++i)
    parts.push_back(static_cast<int>((i * 2654435761 >> 7) % world().size()));
  return parts;
}

std::vector<std::pair<std::string, Partitioner>> partitioners() {
  using From = RowPartition const&;
  using Pattern = RowPattern const&;
  auto const by = [](auto parts) {
    return [parts](From from, Pattern pattern) {
      return order_by_parts(world(), from, pattern, parts(world(), from, pattern));
    };
  };
  std::vector<std::pair<std::string, Partitioner>> all = {
      {"hash", by([](auto const&, From from, Pattern) { return parts_by_hash(from); })},
      {"rcm", [](From from, Pattern pattern) {
         return order_by_cuthill_mckee(world(), from, pattern, 64);
       }}};
#ifdef BLOCKSPAN_HAS_METIS
  all.emplace_back("metis", by(metis_parts));
#endif
#ifdef BLOCKSPAN_HAS_SCOTCH
  all.emplace_back("scotch", by(scotch_parts));
#endif
  return all;
}

std::int64_t cut_entries(Rows const& rows, RowPartition const& partition) {
  std::int64_t cut = 0;
  for (std::int64_t const column : rows.columns)
    cut += partition.owner(column) != world().rank() ? 1 : 0;
  return world().sum(cut);
}

class Orders : public ::testing::Test {
 public:
  Exec const exec;
};

TEST_F(Orders, PermuteRowsAndColumnsAlike) {
  for (std::string const spec : {"laplace7:9x8x7", "rmat:9:5:symmetric", "laplace5:40x3"}) {
    auto const A = generate<double>(exec, spec);
    for (auto const& [name, order_rows] : partitioners()) {
      RowPartition const from(odd_cuts(A.numRows()));
      auto const me = static_cast<std::size_t>(world().rank());
      auto const rows = rows_of(A, from.cuts()[me], from.cuts()[me + 1]);
      auto const order = order_rows(from, {rows.offsets, rows.columns});
      // rank by rank the caller's numbers of all rows
      auto const originals = blockspan::distributed::gather_lists(world(), order.originals());
      ASSERT_EQ(std::set<std::int64_t>(originals.begin(), originals.end()).size(),
                static_cast<std::size_t>(A.numRows()))
          << name;
      auto const permuted = order.rows(rows);
      std::int64_t const first = order.to().first(world().rank());
      for (std::size_t i = 0; i + 1 < permuted.offsets.size(); ++i) {
        auto const row = originals[static_cast<std::size_t>(first) + i];
        std::map<std::int64_t, double> expected;
        for (auto k = A.graph.row_map(row); k < A.graph.row_map(row + 1); ++k)
          expected[A.graph.entries(k)] += A.values(k);
        std::map<std::int64_t, double> found;
        for (auto k = permuted.offsets[i]; k < permuted.offsets[i + 1]; ++k) {
          auto const at = static_cast<std::size_t>(k);
          EXPECT_TRUE(k == permuted.offsets[i] || permuted.columns[at - 1] <= permuted.columns[at]);
          found[originals[static_cast<std::size_t>(permuted.columns[at])]] += permuted.values[at];
        }
        EXPECT_EQ(found, expected) << name << ", row " << row;
      }
    }
  }
}

TEST_F(Orders, TakeBlocksThereAndBack) {
  auto const A = generate<double>(exec, "laplace7:7x6x5");
  for (auto const& [name, order_rows] : partitioners()) {
    RowPartition const from(odd_cuts(A.numRows()));
    auto const me = static_cast<std::size_t>(world().rank());
    auto const rows = rows_of(A, from.cuts()[me], from.cuts()[me + 1]);
    auto const order = order_rows(from, {rows.offsets, rows.columns});
    std::vector<double> block;
    for (auto i = from.cuts()[me]; i < from.cuts()[me + 1]; ++i)
      for (int j = 0; j < 3; ++j) block.push_back(static_cast<double>(10 * i + j));
    auto const there = order.forward(block, 3);
    for (std::size_t i = 0; i < order.originals().size(); ++i)
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_EQ(there[3 * i + j],
                  static_cast<double>(order.originals()[i]) * 10 + static_cast<double>(j));
    EXPECT_EQ(order.backward(there, 3), block) << name;
  }
}

// A x = b in the new order has the solution of the caller's, in the new order.
TEST_F(Orders, SolveTheSameProblem) {
  auto const A = generate<double>(exec, "laplace7:12");
  auto const whole = distribute(exec, world(), A);
  auto const rows = whole->global_rows(exec);
  for (auto const& [name, order_rows] : partitioners()) {
    auto const order = order_rows(whole->partition(), {rows.offsets, rows.columns});
    auto const matrix = reorder(exec, *whole, order);
    EXPECT_EQ(matrix->nonzeros(), whole->nonzeros());
    EXPECT_EQ(matrix->norm_bound(), whole->norm_bound());
    auto const op = distributed_operator(exec, matrix);
    auto const x_of = [](std::int64_t row) { return 1 + 0.1 * static_cast<double>(row % 13); };
    Block<double, Exec> const B("B", order.originals().size(), 1), X("X", B.extent(0), 1);
    for (std::size_t i = 0; i < B.extent(0); ++i) {
      auto const row = order.originals()[i];
      for (auto k = A.graph.row_map(row); k < A.graph.row_map(row + 1); ++k)
        B(i, 0) += A.values(k) * x_of(A.graph.entries(k));
    }
    auto const report = solve_spd(exec, op, B, X);
    ASSERT_TRUE(report.converged()) << name;
    for (std::size_t i = 0; i < X.extent(0); ++i)
      EXPECT_NEAR(X(i, 0), x_of(order.originals()[i]), 1e-5) << name;
  }
}

// Interior rows come first, so that they are one run.
TEST_F(Orders, PartsBeginWithTheirInteriorRows) {
  auto const A = generate<double>(exec, "laplace7:14");
  auto const whole = distribute(exec, world(), A);
  auto const rows = whole->global_rows(exec);
  for (auto const& [name, order_rows] : partitioners()) {
    if (name == "rcm") continue;
    auto const matrix =
        reorder(exec, *whole, order_rows(whole->partition(), {rows.offsets, rows.columns}));
    using Matrix = DistributedMatrix<double, Exec>;
    EXPECT_EQ(matrix->part(Matrix::lower_boundary).rows(), 0) << name;
    auto const tail = matrix->part(Matrix::upper_boundary);
    auto const local = matrix->global_rows(exec);
    for (auto i = tail.first; i < tail.first + tail.rows(); ++i)
      EXPECT_TRUE(std::any_of(
          local.columns.begin() + local.offsets[static_cast<std::size_t>(i)],
          local.columns.begin() + local.offsets[static_cast<std::size_t>(i) + 1],
          [&](auto column) { return matrix->partition().owner(column) != world().rank(); }))
          << name << ", row " << i;
  }
}

// A permuted grid: in order again its parts cut far fewer entries, and are balanced.
TEST_F(Orders, PartitionersCutLittleAndBalance) {
  if (world().size() == 1) GTEST_SKIP() << "one rank has no cuts";
  auto const A = generate<double>(exec, "laplace7:16:permute=5");
  auto const whole = distribute(exec, world(), A);
  auto const rows = whole->global_rows(exec);
  auto const before = cut_entries(rows, whole->partition());
  for (auto const& [name, order_rows] : partitioners()) {
    if (name == "hash") continue;
    auto const order = order_rows(whole->partition(), {rows.offsets, rows.columns});
    auto const permuted = order.rows(rows);
    auto const entries = static_cast<double>(permuted.columns.size());
    double const mean = static_cast<double>(A.nnz()) / world().size();
    EXPECT_LE(world().largest(entries), 1.12 * mean) << name;
    // slabs of a 16^3 grid cut 2 * 256 entries each; a random order nearly all
    EXPECT_LE(cut_entries(permuted, order.to()), 2.5 * 512 * (world().size() - 1)) << name;
    EXPECT_GE(before, 0.4 * static_cast<double>(A.nnz()));
  }
}

TEST_F(Orders, RefuseWhatIsNoPermutation) {
  std::int64_t const n = 10;
  RowPartition const from(odd_cuts(n));
  auto const mine = static_cast<std::size_t>(from.rows(world().rank()));
  std::vector<std::int64_t> same(mine, 3);
  EXPECT_THAT(message_of([&] { RowOrder(world(), from, from, same); }), HasSubstr("RowOrder"));
  std::vector<std::int64_t> outside(mine, n);
  EXPECT_THAT(message_of([&] { RowOrder(world(), from, from, outside); }),
              HasSubstr("has the place 11 of 10"));
  EXPECT_THAT(message_of([&] { order_by_parts(world(), from, {}, Parts(1, 0)); }),
              HasSubstr("order_by_parts: 1 parts of"));
}

TEST(Bricks, AreEqualAndHaveTheLeastSurface) {
  struct Case {
    std::array<std::int64_t, 3> grid;
    int parts;
    std::array<int, 3> counts;
  };
  for (auto const& [grid, parts, counts] :
       {Case{{8, 8, 8}, 8, {2, 2, 2}}, Case{{16, 4, 4}, 4, {4, 1, 1}},
        Case{{6, 6, 6}, 3, {1, 1, 3}}, Case{{9, 9, 1}, 9, {3, 3, 1}}}) {
    auto const rows = 3 * grid[0] * grid[1] * grid[2];
    auto const whole = brick_parts(grid, 3, 0, rows, parts);
    std::map<int, std::int64_t> sizes;
    for (int const part : whole) ++sizes[part];
    ASSERT_EQ(sizes.size(), static_cast<std::size_t>(parts));
    for (auto const& [part, size] : sizes) EXPECT_EQ(size, rows / parts);
    auto const part_at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      return whole[static_cast<std::size_t>(3 * (x + grid[0] * (y + grid[1] * z)))];
    };
    std::array<std::set<int>, 3> along;
    for (std::int64_t i = 0; i < grid[0]; ++i) along[0].insert(part_at(i, 0, 0));
    for (std::int64_t i = 0; i < grid[1]; ++i) along[1].insert(part_at(0, i, 0));
    for (std::int64_t i = 0; i < grid[2]; ++i) along[2].insert(part_at(0, 0, i));
    // the surface decides, not the axis: with equal edges any order of the counts is as good
    std::multiset<std::size_t> found, wanted;
    for (std::size_t axis = 0; axis < 3; ++axis)
      found.insert(along[axis].size()), wanted.insert(static_cast<std::size_t>(counts[axis]));
    EXPECT_EQ(found, wanted);
    auto const some = brick_parts(grid, 3, rows / 2, rows, parts);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), whole.begin() + rows / 2));
  }
}

}  // namespace
}  // namespace blockspan::test
