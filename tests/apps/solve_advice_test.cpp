// Each sentence of blockspan-solve about a status and a run that ends so, also of those that the
// program itself prevents: the solver is called directly.
#include <cmath>
#include <string>

#include "blockspan-solve/advice.hpp"
#include "blockspan-solve/judge.hpp"
#include "solvers/cg_solve.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Exec>
class SolveAdvice : public ::testing::Test {
 protected:
  using Options = CgOptions<double, Exec>;

  /// The sentence about a solve, which has to end with this status.
  std::string sentence(Status expected, TestMatrix<double> const& A, HostBlock<double> const& B,
                       std::function<void(Options&)> const& change,
                       std::string const& preconditioner = "") {
    Exec const exec;
    TestOperator<double, Exec> const op(exec, A);
    auto const right_sides = make_block(exec, Storage::right, B);
    auto const X = make_block(exec, Storage::right, HostBlock<double>(B.rows(), B.columns(), 0.0));
    Options options;
    if (change) change(options);
    apps::SolveCommand const command;
    apps::SolveResult result;
    result.solver = solve_spd<double, Exec>(exec, op, right_sides.view, X.view, options);
    result.preconditioner = preconditioner;
    auto const residual = judge_residuals(A, B, X.values());
    for (std::int64_t j = 0; j < B.columns(); ++j) {
      double size = 0;
      for (std::int64_t i = 0; i < B.rows(); ++i) size += B(i, j) * B(i, j);
      result.rhs_norms.push_back(std::sqrt(size));
      result.true_residuals.push_back(size > 0 ? static_cast<double>(residual.value[j]) : 0.0);
    }
    apps::judge(result, command);
    EXPECT_EQ(apps::stop_reason(result), expected);
    auto const text = apps::solve_advice(command, result);
    EXPECT_EQ(text.find(". "), std::string::npos) << "more than one sentence: " << text;
    return text;
  }
  std::string sentence(Status expected, std::function<void(Options&)> const& change) {
    return sentence(expected, grid, right, change);
  }

  TestMatrix<double> const grid = grid7<double>(6);
  HostBlock<double> const right = random_block<double>(216, 3, 1);
};
TYPED_TEST_SUITE(SolveAdvice, Backends, ConfigNames);

TYPED_TEST(SolveAdvice, OfSuccess) {
  EXPECT_THAT(this->sentence(Status::converged, {}), HasSubstr("is within its tolerance"));
  auto zero = this->right;
  for (int i = 0; i < 216; ++i) zero(i, 1) = 0;
  EXPECT_THAT(this->sentence(Status::converged, this->grid, zero, {}),
              HasSubstr("is within its tolerance"));
}

TYPED_TEST(SolveAdvice, OfARightHandSideThatIsNotFinite) {
  for (double const bad : {std::nan(""), HUGE_VAL}) {
    auto B = this->right;
    B(17, 1) = bad;
    EXPECT_THAT(this->sentence(Status::nonfinite_rhs, this->grid, B, {}),
                HasSubstr("right-hand side in column 2 has NaN or Inf"));
  }
}

TYPED_TEST(SolveAdvice, OfAPreconditionerThatIsNotDefinite) {
  std::vector<double> signs(216, 1.0);
  for (int i = 0; i < 216; i += 3) signs[i] = -1;
  for (auto const& inverse :
       {diagonal_matrix<double>(signs), diagonal_matrix<double>(std::vector<double>(216, -0.2))}) {
    TestOperator<double, TypeParam> const M(TypeParam(), inverse);
    auto const text = this->sentence(
        Status::preconditioner_not_spd, this->grid, this->right,
        [&](auto& options) { options.preconditioner = &M; }, "signs");
    EXPECT_THAT(text, HasSubstr("preconditioner signs is not positive definite"));
  }
}

TYPED_TEST(SolveAdvice, OfWhatIsNotFinite) {
  TestOperator<double, TypeParam> const M(
      TypeParam(), diagonal_matrix<double>(std::vector<double>(216, HUGE_VAL)));
  auto const text = this->sentence(
      Status::operator_not_finite, this->grid, this->right,
      [&](auto& options) { options.preconditioner = &M; }, "infinite");
  EXPECT_THAT(text, HasSubstr("preconditioner infinite gave NaN or Inf"));
}

TYPED_TEST(SolveAdvice, OfAMatrixThatIsNotSymmetric) {
  auto A = this->grid;
  for (int i = 0; i + 1 < 216; ++i) A.add(i, i + 1, i % 2 == 0 ? 0.9 : -0.9);
  for (int const columns : {1, 3})
    EXPECT_THAT(this->sentence(Status::operator_not_hermitian, A,
                               random_block<double>(216, columns, 1), {}),
                HasSubstr("not Hermitian (not symmetric, if real)"));
}

TYPED_TEST(SolveAdvice, OfLimitsAndTheMonitor) {
  EXPECT_THAT(this->sentence(Status::time_limit, [](auto& options) { options.time_limit = 0; }),
              HasSubstr("time limit came first, and column 1 is at a residual of 1"));
  EXPECT_THAT(this->sentence(Status::stopped_by_monitor,
                             [](auto& options) {
                               options.monitor = [](auto const& now) { return now.iteration < 4; };
                             }),
              HasSubstr("Interrupted after 4 iterations"));
  // A tolerance that the recurrence reaches, and the residual not within one cycle.
  TestMatrix<double> graded(216);
  for (int i = 0; i < 216; ++i) {
    graded.add(i, i, std::pow(10.0, 5.0 * i / 215) * 2.001);
    for (int const j : {i - 1, i + 1})
      if (j >= 0 && j < 216) graded.add(i, j, std::pow(10.0, 2.5 * (i + j) / 215));
  }
  EXPECT_THAT(this->sentence(Status::max_iterations, graded, this->right,
                             [](auto& options) {
                               options.tolerance = 1e-14;
                               options.max_cycles = 1;
                             }),
              HasSubstr("the recurrence took for small enough were not, after 1 cycle of"));
}

}  // namespace
}  // namespace blockspan::test
