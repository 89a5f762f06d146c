// One rank is what the library without ranks is: the same bits, and no kernel, allocation or wait
// more.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/sparse/graph.hpp>

#include "distributed/ranks.hpp"
#include "support/observed.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Config>
class OneRank : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Vectors = Block<Value, Exec>;
  static constexpr char const* spec = "laplace7:18x17x16";
  Exec const exec;

  void SetUp() override {
    if (world().size() > 1) GTEST_SKIP() << "for one rank";
  }

  /// What `some` has more often than `of`.
  static std::vector<std::string> beyond(std::vector<std::string> of,
                                         std::vector<std::string> some) {
    std::sort(of.begin(), of.end()), std::sort(some.begin(), some.end());
    std::vector<std::string> more;
    std::set_difference(some.begin(), some.end(), of.begin(), of.end(), std::back_inserter(more));
    return more;
  }

  /// No kernel, allocation or wait that `expected` does not have.
  static void expect_no_more(Observation const& expected, Observation const& found) {
    EXPECT_THAT(beyond(expected.labels, found.labels), ::testing::IsEmpty());
    EXPECT_THAT(beyond(expected.allocations, found.allocations), ::testing::IsEmpty());
    EXPECT_THAT(beyond(expected.fences, found.fences), ::testing::IsEmpty());
  }

  /// solve(A, X) by a matrix and by the same one on ranks.
  template <class Solve>
  void expect_same(Solve const& solve) const {
    auto const A = generate<Value>(exec, spec);
    MatrixOperator<Value, Exec> const alone(exec, A, {.columns = 16});
    auto const ranks = distributed_operator(exec, distribute(exec, world(), A));
    auto const run = [&](LinearOperator<Value, Exec> const& op, Vectors const& X) {
      return observed([&] { solve(op, X); });
    };
    Vectors const X("X", static_cast<std::size_t>(A.numRows()), 6), x("x", X.extent(0), 6);
    auto const expected = run(alone, X), found = run(ranks, x);
    EXPECT_EQ(entries(x), entries(X));
    expect_no_more(expected, found);
    EXPECT_GT(found.labels.size(), 100u);
  }
};
TYPED_TEST_SUITE(OneRank, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(OneRank, SharesTheMatrixAndAddsNothingToItsSetup) {
  using S = typename TypeParam::Scalar;
  auto const A = generate<S>(this->exec, this->spec);
  auto const expected = observed([&] {
    MatrixOperator<S, Exec> const op(this->exec, A, {.columns = 16});
    EXPECT_EQ(op.facts().terms_per_row, 7);
  });
  auto const found = observed([&] {
    auto const matrix = distribute(this->exec, world(), A);
    auto const op = distributed_operator(this->exec, matrix);
    EXPECT_EQ(op.facts().terms_per_row, 7);
    for (auto const& same : {matrix->whole(), matrix->diagonal_block(this->exec)}) {
      EXPECT_EQ(same.values.data(), A.values.data());
      EXPECT_EQ(same.graph.entries.data(), A.graph.entries.data());
      EXPECT_EQ(same.graph.row_map.data(), A.graph.row_map.data());
    }
  });
  this->expect_no_more(expected, found);
  EXPECT_GT(found.labels.size(), 1u);
}

TYPED_TEST(OneRank, KnowsTheMatrixAsWithoutRanks) {
  using S = typename TypeParam::Scalar;
  for (bool const neumann : {false, true}) {
    auto const grid = generate<S>(this->exec, "laplace7:9x8x7");
    auto const A = neumann ? graph_laplacian<S>(this->exec, grid) : grid;
    MatrixOperator<S, Exec> const alone(this->exec, A, {.columns = 16});
    auto const ranks = distributed_operator(this->exec, distribute(this->exec, world(), A));
    auto const work = 1000 * *alone.facts().work;
    std::vector<std::vector<S>> nulls;
    std::vector<Observation> seen;
    for (LinearOperator<S, Exec> const* op : {static_cast<LinearOperator<S, Exec> const*>(&alone),
                                              static_cast<LinearOperator<S, Exec> const*>(&ranks)})
      seen.push_back(observed([&] {
        EXPECT_EQ(op->facts().norm_bound, alone.facts().norm_bound);
        EXPECT_EQ(op->facts().eigenvalue_lower_bound, alone.facts().eigenvalue_lower_bound);
        EXPECT_EQ(op->entries().annihilates_constants(this->exec), neumann);
        EXPECT_EQ(op->entries().diagonal(this->exec).size(), static_cast<std::size_t>(A.numRows()));
        EXPECT_EQ(op->facts().work, alone.facts().work);
        EXPECT_EQ(op->name(), alone.name());
        nulls.push_back(entries(op->entries().likely_null_vectors(this->exec, work)));
      }));
    this->expect_no_more(seen[0], seen[1]);
    EXPECT_EQ(nulls[0], nulls[1]);
    EXPECT_EQ(ranks.diagonal(this->exec), alone.diagonal(this->exec));
  }
}

TYPED_TEST(OneRank, HasTheMultigridOfOneMatrix) {
  using S = typename TypeParam::Scalar;
  auto const matrix = distribute(this->exec, world(), generate<S>(this->exec, this->spec));
  this->expect_same([&](auto const& A, auto const& X) {
    Block<S, Exec> const B("B", X.extent(0), X.extent(1));
    fill_random(this->exec, B, 3);
    auto const solve = [&](auto const& M) {
      CgOptions<S, Exec> options;
      options.preconditioner = &M;
      EXPECT_TRUE(solve_spd(this->exec, A, B, X, options).converged());
    };
    if (dynamic_cast<MatrixOperator<S, Exec> const*>(&A))
      solve(multigrid(this->exec, matrix->whole()));
    else
      solve(DistributedMultigrid<S, Exec>(this->exec, matrix));
  });
}

TYPED_TEST(OneRank, SolvesSystemsAsWithoutRanks) {
  using S = typename TypeParam::Scalar;
  for (int const kind : {0, 1, 2})
    this->expect_same([&](auto const& A, auto const& X) {
      Block<S, Exec> const B("B", X.extent(0), X.extent(1));
      fill_random(this->exec, B, 3);
      CgOptions<S, Exec> options;
      options.method = kind == 2 ? CgMethod::block : CgMethod::pseudo_block;
      options.single_reduction = kind == 1;
      EXPECT_TRUE(solve_spd(this->exec, A, B, X, options).converged());
    });
}

TYPED_TEST(OneRank, FindsPairsAsWithoutRanks) {
  using S = typename TypeParam::Scalar;
  this->expect_same([&](auto const& A, auto const& X) {
    LobpcgOptions<S, Exec> options;
    options.wanted = 4;
    options.path = SolvePath::iterative;
    EXPECT_TRUE(lobpcg(this->exec, A, X, options).converged());
  });
}

}  // namespace
}  // namespace blockspan::test
