// Iterations that run as a recorded graph do what they do when every kernel is launched: a
// listening profiler keeps them from being recorded, which gives the comparison. (The test programs
// listen themselves, to count kernels.)

#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>

#include "solvers/cg_solve.hpp"
#include "support/observed.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
inline constexpr bool records_v = !std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

template <class Scalar>
struct Solved {
  CgReport<real_t<Scalar>> report;
  HostBlock<Scalar> X;
};

template <class Scalar, class Exec>
Solved<Scalar> solve_grid(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                          CgOptions<Scalar, Exec> options, HostBlock<Scalar> const& right) {
  auto const B = make_block(exec, Storage::right, right);
  auto const X = make_block(exec, Storage::right, HostBlock<Scalar>(right.rows(), right.columns()));
  options.method = CgMethod::pseudo_block;
  auto const report = solve_spd<Scalar, Exec>(exec, A, B.view, X.view, options);
  return {report, X.values()};
}

/// Columns that end one after the other, so that the width changes now and then.
template <class Scalar, class Exec>
CgOptions<Scalar, Exec> graded(int columns, bool single) {
  CgOptions<Scalar, Exec> result;
  result.single_reduction = single;
  for (int j = 0; j < columns; ++j)
    result.tolerances.push_back(static_cast<real_t<Scalar>>(j % 2 == 0 ? 1e-5 : 1e-2));
  return result;
}

template <class Config>
class CgReplay : public ::testing::Test {};
TYPED_TEST_SUITE(CgReplay, Configs, ConfigNames);

TYPED_TEST(CgReplay, ChangesNoBitAndNoCount) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace7:20");
  auto const A = matrix_operator(exec, matrix, 8);
  auto const M = jacobi(exec, matrix);
  for (bool const single : {false, true})
    for (int const columns : {1, 8}) {
      auto options = graded<Scalar, Exec>(columns, single);
      options.preconditioner = &M;
      auto const right = random_block<Scalar>(matrix.numRows(), columns, 3);
      Solved<Scalar> plain, launched;
      unobserved([&] { plain = solve_grid<Scalar, Exec>(exec, A, options, right); });
      observed([&] { launched = solve_grid<Scalar, Exec>(exec, A, options, right); });
      EXPECT_TRUE(plain.report.converged());
      EXPECT_TRUE(same_bits(plain.X, launched.X));
      EXPECT_EQ(plain.report.iterations, launched.report.iterations);
      auto const &replayed = plain.report.counters, &every = launched.report.counters;
      EXPECT_EQ(replayed.operator_applications, every.operator_applications);
      EXPECT_EQ(replayed.operator_columns, every.operator_columns);
      EXPECT_EQ(replayed.synchronizations, every.synchronizations);
      EXPECT_EQ(every.replayed, 0);
      if (records_v<Exec>)
        EXPECT_GT(replayed.replayed, plain.report.iterations / 3);
      else
        EXPECT_EQ(replayed.replayed, 0);
    }
}

TYPED_TEST(CgReplay, LeavesOperatorsAloneThatDoNotAllowIt) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace7:12");
  auto const A = matrix_operator(exec, matrix, 4);
  int calls = 0;
  auto const counting = function_operator<Scalar, Exec>(
      matrix.numRows(), [&](Exec const& on, auto const& X, auto const& Y) {
        ++calls;
        A.apply(on, X, Y);
      });
  auto const right = random_block<Scalar>(matrix.numRows(), 4, 3);
  auto const solved =
      solve_grid<Scalar, Exec>(exec, counting, graded<Scalar, Exec>(4, false), right);
  EXPECT_TRUE(solved.report.converged());
  EXPECT_EQ(solved.report.counters.replayed, 0);
  EXPECT_EQ(calls, solved.report.counters.operator_applications);
}

}  // namespace
}  // namespace blockspan::test
