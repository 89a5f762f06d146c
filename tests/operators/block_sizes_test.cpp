// The unknowns of a node, found in patterns made and real.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "spmm/battery.hpp"
#include "support/matrices.hpp"
#include "support/random.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class BlockSizes : public ::testing::Test {};
TYPED_TEST_SUITE(BlockSizes, Configs, ConfigNames);

TYPED_TEST(BlockSizes, FindsTheUnknownsOfANode) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const found = [&](HostMatrix<Scalar> const& A) {
    return find_block_size(exec, to_device(exec, A));
  };
  EXPECT_EQ(find_block_size(exec, generate<Scalar>(exec, "elasticity:5")), 3);
  EXPECT_EQ(find_block_size(exec, generate<Scalar>(exec, "laplace7:6x5x4")), 1);
  EXPECT_EQ(find_block_size(exec, generate<Scalar, Exec, std::size_t>(exec, "laplace27:5")), 1);
  EXPECT_EQ(block_jacobi(exec, generate<Scalar>(exec, "elasticity:4")).block_size(), 3);
  EXPECT_EQ(found(HostMatrix<Scalar>{"", 0, 0, {0}, {}, {}}), 1);
  EXPECT_EQ(found(band<Scalar>(1)), 1);
  EXPECT_EQ(found(HostMatrix<Scalar>{"no entries", 4, 4, {0, 0, 0, 0, 0}, {}, {}}), 1);
  auto const grid = [](std::int64_t nodes, int b, auto order) {
    HostMatrix<Scalar> A{"chain", nodes * b, nodes * b, {0}, {}, {}};
    for (std::int64_t i = 0; i < nodes * b; ++i) {
      std::vector<std::int64_t> columns;
      for (std::int64_t node = std::max<std::int64_t>(0, i / b - 1);
           node <= std::min(nodes - 1, i / b + 1); ++node)
        for (int c = 0; c < b; ++c) columns.push_back(node * b + c);
      order(i, columns);
      for (auto const column : columns) A.add(column, Scalar(1));
      A.end_row();
    }
    return A;
  };
  auto const as_is = [](auto, auto&) {};
  auto const turned = [](std::int64_t i, auto& columns) {
    std::rotate(columns.begin(), columns.begin() + i % 3, columns.end());
    columns.push_back(columns.front());
  };
  for (int b = 2; b <= 8; ++b) EXPECT_EQ(found(grid(20, b, as_is)), b);
  EXPECT_EQ(found(grid(20, 6, turned)), 6) << "columns are not sorted and one repeats";
  EXPECT_EQ(found(grid(30000, 3, as_is)), 3) << "more rows than are looked at";
  auto const dropped = [](int keep) {
    return [keep](std::int64_t i, auto& columns) {
      Random random(static_cast<std::uint64_t>(i));
      std::erase_if(columns, [&](auto) { return random.below(10) >= keep; });
    };
  };
  EXPECT_EQ(found(grid(100, 3, dropped(8))), 3) << "one entry in five was zero and left out";
  EXPECT_EQ(found(grid(100, 3, dropped(4))), 1) << "three in five";
}

/// By the definition: sets of tiles, of all rows.
template <class Scalar>
int block_size_by_sets(HostMatrix<Scalar> const& A) {
  std::vector<double> fill(9, 0);
  for (int b = 1; b <= 8; ++b) {
    std::set<std::pair<std::int64_t, std::int64_t>> entries, tiles;
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.offsets[i]; k < A.offsets[i + 1]; ++k) {
        entries.insert({i, A.indices[k]});
        tiles.insert({i / b, A.indices[k] / b});
      }
    std::int64_t area = 0;
    for (auto const& [row, column] : tiles)
      area += std::min<std::int64_t>(b, A.rows - row * b) *
              std::min<std::int64_t>(b, A.columns - column * b);
    if (area > 0) fill[b] = static_cast<double>(entries.size()) / static_cast<double>(area);
  }
  double const best = *std::max_element(fill.begin() + 2, fill.end());
  for (int b = 8; b > 1; --b)
    if (b <= A.rows && fill[b] >= 2.0 / 3 && fill[b] >= 0.9 * best) return b;
  return 1;
}

TYPED_TEST(BlockSizes, AreThoseOfTheDefinition) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  std::set<int> seen;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    auto const b = static_cast<std::int64_t>(1 + random.below(8));
    std::int64_t const n = 1 + static_cast<std::int64_t>(random.below(90));
    auto const keep = 5 + random.below(6), ordered = random.below(4);
    HostMatrix<Scalar> A{"blocks", n, n, {0}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<std::int64_t> columns;
      for (std::int64_t j = 0; j < n; ++j) {
        bool const near = (i / b * 7 + j / b * 5) % 11 < 3;
        if (near && random.below(10) < keep) columns.push_back(j);
      }
      if (ordered == 0 && !columns.empty()) columns.push_back(columns.front());
      for (auto const column : columns) A.add(column, Scalar(1));
      A.end_row();
    }
    int const right = block_size_by_sets(A);
    seen.insert(right);
    EXPECT_EQ(find_block_size(exec, to_device(exec, A)), right) << "seed " << seed;
  }
  EXPECT_EQ(seen.size(), 8) << "every size is met";
}

TYPED_TEST(BlockSizes, FindsTheUnknownsOfRealMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!matrix_dir()) GTEST_SKIP() << "no folder of matrices";
  Exec const exec;
  auto const found = [&](std::string const& name) {
    return find_block_size(exec, read_matrix_market<Scalar>(exec, matrix_path(name)));
  };
  EXPECT_EQ(found("bcsstk09"), 3) << "a plate: a deflection and two rotations";
  EXPECT_EQ(found("bcsstk29"), 6) << "a shell";
  EXPECT_EQ(found("nos3"), 2);
  for (std::string const name : {"gr_30_30", "1138_bus", "nos5", "minnesota"})
    EXPECT_EQ(found(name), 1) << name;
}

}  // namespace
}  // namespace blockspan::test
