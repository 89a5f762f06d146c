// What `automatic` of solve_spd decides between blocks and columns, by what a step costs.

#include <gtest/gtest.h>

#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/cg/block_choice.hpp>
#include <blockspan/sparse/generators.hpp>

namespace blockspan::test {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using krylov::BlockFacts;
using krylov::reason_for_columns;

TEST(CgChoice, CountsTheProductsOfAStep) {
  Exec const exec;
  auto const A = generate<double>(exec, "laplace7:9");
  double const a_row = static_cast<double>(A.nnz()) / A.numRows();
  auto const op = matrix_operator(exec, A, 8);
  auto const D = jacobi(exec, A);
  auto const polynomial = chebyshev(exec, op, A);
  auto const work = [&](LinearOperator<double, Exec> const* M) {
    return krylov::block_facts(op, M, A.numRows(), 8).work;
  };
  EXPECT_EQ(work(nullptr), a_row);
  EXPECT_EQ(work(&D), a_row + 1);
  EXPECT_FALSE(work(&polynomial)) << "its products are not said";
}

TEST(CgChoice, BlocksOnDevicesNeedLargeProblemsAndLongRows) {
  auto const by_columns = [](BlockFacts const& facts) {
    return !reason_for_columns<double>(facts).empty();
  };
  BlockFacts grid{.on_host = false, .entries = 8'000'000, .work = 8.0};
  EXPECT_TRUE(by_columns(grid));
  BlockFacts const structure{.on_host = false, .entries = 2'000'000, .work = 78.0},
      unknown{.on_host = false, .entries = 2'000'000},
      small{.on_host = false, .entries = 80'000, .work = 78.0},
      exact{.on_host = true, .entries = 2'000'000, .few_steps = true, .work = 78.0};
  EXPECT_FALSE(by_columns(structure));
  EXPECT_FALSE(by_columns(unknown));
  EXPECT_TRUE(by_columns(small));
  EXPECT_TRUE(by_columns(exact));
  grid.on_host = true;
  EXPECT_FALSE(by_columns(grid));
}

}  // namespace
}  // namespace blockspan::test
