// Groups of rows with the same columns: found where they are, and multiplied as the rows are alone.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/row_groups.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using Row = std::int64_t;
using Begins = std::vector<int>;

namespace kernels = blockspan::products;

template <class Exec>
class Groups : public ::testing::Test {};
TYPED_TEST_SUITE(Groups, Backends, ConfigNames);
template <class Config>
class GroupProducts : public ::testing::Test {};
TYPED_TEST_SUITE(GroupProducts, Configs, ConfigNames);

/// A matrix of ones with these columns.
HostMatrix<double> with_columns(std::vector<std::vector<int>> const& rows) {
  HostMatrix<double> A{"given", static_cast<Row>(rows.size()), 10, {0}, {}, {}};
  for (auto const& row : rows) {
    for (int const column : row) A.add(column, 1.0);
    A.end_row();
  }
  return A;
}

template <class Exec>
auto groups_of(Exec const& exec, HostMatrix<double> const& host,
               std::int64_t most_fetches = INT64_MAX) {
  auto const A = to_device(exec, host);
  return kernels::find_row_groups(exec, kernels::pattern_ref<Exec>(A), most_fetches);
}

template <class List>
Begins begins(List const& list) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.begin);
  return Begins(mirror.data(), mirror.data() + mirror.extent(0));
}

TYPED_TEST(Groups, AreFoundInHardPatterns) {
  TypeParam const exec;
  auto const found = [&](std::vector<std::vector<int>> const& rows) {
    return begins(groups_of(exec, with_columns(rows)));
  };
  EXPECT_EQ(found({{1, 2}, {1, 2}}), (Begins{0, 2}));
  EXPECT_EQ(found({{3}, {1, 2}, {1, 2}}), (Begins{0, 1, 3}));              // the last rows
  EXPECT_EQ(found({{1, 2}, {1, 3}, {2, 3}}), (Begins{0, 1, 2, 3}));        // equal counts only
  EXPECT_EQ(found({{1, 2}, {2, 1}}), (Begins{0, 1, 2}));                   // another order
  EXPECT_EQ(found({{1, 2}, {1, 2, 3}, {1, 2}}), (Begins{0, 1, 2, 3}));     // a part of the next
  EXPECT_EQ(found({{4, 4}, {4, 4}}), (Begins{0, 2}));                      // repeated columns
  EXPECT_EQ(found({{1}, {}, {}, {1}, {1}}), (Begins{0, 1, 2, 3, 5}));      // empty rows are alone
  EXPECT_EQ(found({{}, {5}, {5}, {}}), (Begins{0, 1, 3, 4}));              // at both ends
  EXPECT_EQ(found({{1}, {1}, {2}, {2}, {1}, {1}}), (Begins{0, 2, 4, 6}));  // run after run
  EXPECT_EQ(found({{}, {}, {}}), (Begins{0, 1, 2, 3}));
  EXPECT_EQ(found({}), (Begins{}));
}

TYPED_TEST(Groups, HaveAsManyRowsAsTheRunsOfTheMatrix) {
  TypeParam const exec;
  for (int const rows : {2, 3, 4, 6, 8}) {
    auto const host = shared_columns<double>(
        "nodes", 50, 400, [&](Row) { return rows; }, [](Row) { return 9; });
    auto const list = groups_of(exec, host);
    EXPECT_EQ(list.most, rows == 6 ? 3 : std::min(rows, 4)) << rows;
    EXPECT_EQ(list.count.groups, host.rows / list.most) << rows;
    EXPECT_EQ(list.count.fetches, list.count.groups * 9) << rows;
  }
  Row const longest = kernels::tuning::group_longest_row;
  for (Row const length : {longest, longest + 1}) {
    auto const long_rows = shared_columns<double>(
        "long rows", 3, 9000, [](Row) { return 4; }, [&](Row) { return length; });
    EXPECT_EQ(groups_of(exec, long_rows).count.groups, length > longest ? 12 : 3);
  }
  auto const all_equal = shared_columns<double>(
      "all rows equal", 1, 400, [&](Row) { return 1001; }, [](Row) { return 5; });
  auto const list = groups_of(exec, all_equal);
  EXPECT_EQ(list.most, 4);
  EXPECT_EQ(list.count.groups, 251);
  for (int const less : {0, 1}) {  // where they would fetch too much, they are counted only
    auto const counted = groups_of(exec, all_equal, list.count.fetches - less);
    EXPECT_EQ(counted.count.groups, 251);
    EXPECT_EQ(counted.begin.extent(0), less == 1 ? 0u : 252u);
  }
}

/// Against a walk over the rows, for matrices large enough for many threads.
TYPED_TEST(Groups, AreThoseOfAWalkOverTheRows) {
  TypeParam const exec;
  auto matrices = battery<double>();
  matrices.push_back(shared_columns<double>(
      "many runs", 30000, 40, [](Row run) { return 1 + run * run % 11; },
      [](Row run) { return run % 3; }));
  for (auto const& host : matrices) {
    auto const list = groups_of(exec, host);
    if (host.rows == 0) continue;
    auto const columns_of = [&](Row row) {
      return std::vector(host.indices.begin() + host.offsets[row],
                         host.indices.begin() + host.offsets[row + 1]);
    };
    Begins expected{0};
    Row run = 0, fetches = host.offsets[1];
    for (Row row = 1; row < host.rows; ++row) {
      auto const own = columns_of(row);
      if (own.empty() || own != columns_of(row - 1)) run = row;
      if ((row - run) % list.most != 0) continue;
      expected.push_back(static_cast<int>(row));
      fetches += static_cast<Row>(own.size());
    }
    EXPECT_EQ(list.count.groups, static_cast<Row>(expected.size())) << host.name;
    EXPECT_EQ(list.count.fetches, fetches) << host.name;
    expected.push_back(static_cast<int>(host.rows));
    EXPECT_EQ(begins(list), expected) << host.name;
  }
}

TYPED_TEST(Groups, AreChosenWhereRowsShareTheirColumnsAndExplained) {
  TypeParam const exec;
  auto const elasticity = generate<double>(exec, "elasticity:16");  // devices: rows enough for it
  SpmmPlan const plan(exec, elasticity, {.columns = 16});
  EXPECT_EQ(plan.algorithm(), "groups") << plan.explain(16);
  EXPECT_EQ(plan.kernel(16), "Blockspan::spmm::groups");
  EXPECT_THAT(plan.explain(16), HasSubstr("groups of 3 rows on average, at most 3"));
  SpmmPlan const grid(exec, generate<double>(exec, "laplace7:9x9x9"));
  EXPECT_EQ(grid.algorithm(), "rows");
  EXPECT_THAT(grid.explain(8), ::testing::Not(HasSubstr("rows with the same columns")));
}

/// Matrices with runs of 1 to 7 rows, and of all lengths that a kernel has.
template <class Scalar>
std::vector<HostMatrix<Scalar>> grouped_matrices() {
  auto const length = [](Row run) { return run % 9 == 4 ? 0 : 1 + run * 5 % 40; };
  std::vector<HostMatrix<Scalar>> all;
  for (int const rows : {1, 2, 3, 4, 6})
    all.push_back(shared_columns<Scalar>(
        "runs of " + std::to_string(rows), 24, 70, [&](Row) { return rows; }, length));
  all.push_back(shared_columns<Scalar>(
      "mixed runs", 40, 70, [](Row run) { return 1 + run % 7; }, length));
  return all;
}

TYPED_TEST(GroupProducts, AreRightAtEveryWidth) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  std::size_t turn = 0;
  for (auto const& host : grouped_matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.algorithm = "groups"});
    for (int const width : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 24, 31, 32, 64, 70})
      for (Op const op : {Op::none, Op::transpose, Op::conjugate, Op::adjoint}) {
        ProductCase<Scalar> const c{host, op, width, Scalar(-1.5),
                                    turn % 3 == 0 ? Scalar(0) : Scalar(2)};
        expect_product(
            exec, mixed_storages[turn++ % 5 == 0 ? turn % 6 : 0], c,
            [&](auto const& X, auto const& Y) { spmm(exec, plan, op, c.alpha, A, X, c.beta, Y); });
      }
  }
}

TYPED_TEST(GroupProducts, AreRightOnEveryGridOfLanes) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  int const most = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible ? 1 : 32;
  for (auto const& host : grouped_matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    for (int columns = 1; columns <= most; columns *= 2)
      for (int entries = 1; columns * entries <= most; entries *= 2) {
        SpmmPlan const plan(exec, A, {.algorithm = "groups", .lanes = {columns, entries, 0}});
        for (int const width : {3, 8, 20}) {
          ProductCase<Scalar> const c{host, Op::none, width, Scalar(1), Scalar(0)};
          expect_spmm(exec, plan, A, c);
        }
      }
  }
}

/// A group adds up each of its rows in the order that the row has alone: with the same lanes, and
/// on hosts where rows have no chains, the bits are those of rows.
TYPED_TEST(Groups, HaveTheBitsOfTheRowsAlone) {
  TypeParam const exec;
  for (auto const& host : grouped_matrices<double>()) {
    auto const A = to_device(exec, host);
    for (int const entries : {1, 4}) {
      auto const product = [&](char const* algorithm) {
        SpmmPlan const plan(exec, A, {.algorithm = algorithm, .lanes = {8, entries, 1}});
        auto const X = make_block(exec, right, random_block<double>(host.columns, 32, 1));
        auto const Y = make_block(exec, right, random_block<double>(host.rows, 32, 2));
        spmm(exec, plan, Op::none, 1.5, A, X.view, -0.5, Y.view);
        exec.fence("Blockspan::test");
        return Y.values();
      };
      EXPECT_TRUE(same_bits(product("groups"), product("rows"))) << host.name;
    }
  }
}

}  // namespace
}  // namespace blockspan::test
