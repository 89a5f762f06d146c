// One rank is what the library without ranks is: the same bits, and no kernel, allocation or wait
// more.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/ranks.hpp"
#include "support/observed.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Scalar>
struct IsDouble : std::is_same<real_t<Scalar>, double> {};

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
    // it knows at once what a matrix is asked for (whether rows sum to zero): no more, perhaps less
    EXPECT_THAT(beyond(expected.labels, found.labels), ::testing::IsEmpty());
    EXPECT_THAT(beyond(expected.allocations, found.allocations), ::testing::IsEmpty());
    EXPECT_THAT(beyond(expected.fences, found.fences), ::testing::IsEmpty());
    EXPECT_GT(found.labels.size(), 100u);
  }
};
TYPED_TEST_SUITE(OneRank, ConfigsWith<IsDouble>, ConfigNames);

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
