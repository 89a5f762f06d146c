// An operator that returns the facts of another one with the same values is solved with as that one
// is: the same bits, and the same calls.
#include <type_traits>

#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/sparse/generators.hpp>

#include "solvers/cg_solve.hpp"

namespace blockspan::test {
namespace {

template <class Scalar, class Exec>
class StandIn final : public LinearOperator<Scalar, Exec> {
 public:
  explicit StandIn(LinearOperator<Scalar, Exec> const& of) : of_(of) {}

  std::int64_t rows() const override { return of_.rows(); }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    of_.apply(exec, X, Y);
  }
  OperatorFacts<Scalar, Exec> facts() const override { return of_.facts(); }

 private:
  LinearOperator<Scalar, Exec> const& of_;
};

template <class Config>
class StandIns : public ::testing::Test {};
TYPED_TEST_SUITE(StandIns, Configs, ConfigNames);

template <class Scalar, class Exec>
std::pair<CgReport<real_t<Scalar>>, HostBlock<Scalar>> solved(LinearOperator<Scalar, Exec> const& A,
                                                              LinearOperator<Scalar, Exec> const& M,
                                                              HostBlock<Scalar> const& right) {
  Exec const exec;
  auto const B = make_block(exec, Storage::right, right);
  auto const X = make_block(exec, Storage::right, HostBlock<Scalar>(right.rows(), right.columns()));
  CgOptions<Scalar, Exec> options;
  options.method = CgMethod::pseudo_block;
  options.preconditioner = &M;
  auto const report = solve_spd<Scalar, Exec>(exec, A, B.view, X.view, options);
  return {report, X.values()};
}

TYPED_TEST(StandIns, SolveSystemsAsTheOperatorsTheyStandFor) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  if constexpr (!on_host_v<Exec>) GTEST_SKIP() << "products that sum dots round in another order";
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace7:9x8x7");
  auto const A = matrix_operator(exec, matrix, 3);
  auto const rows = jacobi(exec, matrix);
  auto const blocks = block_jacobi(exec, matrix, {.block_size = 3});
  auto const right = random_block<Scalar>(matrix.numRows(), 3, 5);
  for (LinearOperator<Scalar, Exec> const* M :
       {static_cast<LinearOperator<Scalar, Exec> const*>(&rows),
        static_cast<LinearOperator<Scalar, Exec> const*>(&blocks)}) {
    StandIn<Scalar, Exec> const a(A), m(*M);
    EXPECT_EQ(m.name(), M->name());
    auto const [report, X] = solved<Scalar, Exec>(A, *M, right);
    auto const [again, Y] = solved<Scalar, Exec>(a, m, right);
    EXPECT_TRUE(report.converged());
    EXPECT_TRUE(same_bits(X, Y));
    EXPECT_EQ(report.norm_a, again.norm_a);
    EXPECT_EQ(report.counters.preconditioner_applications,
              again.counters.preconditioner_applications);
    EXPECT_EQ(report.counters.preconditioner_applications == 0, M == &rows);
  }
}

TYPED_TEST(StandIns, FindPairsAsTheOperatorsTheyStandFor) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace7:9x8x7");
  auto const A = matrix_operator(exec, matrix, 6);
  auto const T = jacobi(exec, matrix);
  StandIn<Scalar, Exec> const a(A), t(T);
  LobpcgOptions<Scalar, Exec> options;
  options.wanted = 3;
  options.path = SolvePath::iterative;
  // single precision leaves 2e-5 of the least value open
  options.tolerance = real_t<Scalar>(std::is_same_v<real_t<Scalar>, float> ? 1e-3 : 1e-4);
  auto const solve = [&](LinearOperator<Scalar, Exec> const& op,
                         LinearOperator<Scalar, Exec> const& preconditioner) {
    Block<Scalar, Exec> const X("X", matrix.numRows(), 6);
    options.preconditioner = &preconditioner;
    return lobpcg(exec, op, X, options);
  };
  auto const report = solve(A, T), again = solve(a, t);
  EXPECT_TRUE(report.converged());
  EXPECT_EQ(report.eigenvalues, again.eigenvalues);
  EXPECT_EQ(report.iterations, again.iterations);
  EXPECT_EQ(report.counters.preconditioner_applications,
            again.counters.preconditioner_applications);
}

}  // namespace
}  // namespace blockspan::test
