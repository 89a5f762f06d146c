#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>

#include "solvers/solve.hpp"
#include "solvers/truth.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

using Exec = AnyBackend;

struct ReferenceSolve {
  char const* problem;
  int iterations;  ///< of a prototype: Jacobi, 4 guards, 1e-8 backward, random start, no probe
};
void PrintTo(ReferenceSolve const& reference, std::ostream* out) { *out << reference.problem; }

constexpr ReferenceSolve recipe[] = {{"std:nos4", 29},
                                     {"std:gr_30_30", 50},
                                     {"std:Si2", 54},
                                     {"std:bcsstk08", 66},
                                     {"std:nos3", 109},
                                     {"gen:bcsstk07/bcsstm07", 165},
                                     {"gen:bcsstk09/bcsstm09", 133},
                                     {"gen:bcsstk21/bcsstm21", 175},
                                     {"lap:3elt", 169},
                                     {"lap:minnesota", 204},
                                     {"std:bcsstk21", 342},
                                     {"std:Chem97ZtZ", 365},
                                     {"std:Trefethen_2000", 10}};

int iterations_of(std::string const& folder, char const* problem, std::uint64_t seed) {
  auto const truth = find_truth(folder, std::string(problem) + " smallest");
  auto const A = truth_matrix<double>(folder, truth);
  auto const B =
      truth.mass.empty() ? TestMatrix<double>() : read_test_matrix<double>(folder, truth.mass);
  auto const solved =
      solve<double, Exec>(A, truth.mass.empty() ? nullptr : &B, 10, [&](auto& options, auto& X) {
        X = Block<double, Exec>("X", A.order(), 14);
        options.probe = false;
        options.seed = seed;
      });
  EXPECT_EQ(solved.report.status, Status::converged) << problem;
  return solved.report.iterations;
}

class ReferenceCounts : public ::testing::TestWithParam<ReferenceSolve> {};

TEST_P(ReferenceCounts, OfIterationsAreNotExceeded) {
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  int const iterations = iterations_of(*folder, GetParam().problem, 1);
  EXPECT_LE(iterations, 1.3 * GetParam().iterations);
  RecordProperty("iterations", iterations);
}

INSTANTIATE_TEST_SUITE_P(Recipe, ReferenceCounts, ::testing::ValuesIn(recipe));

TEST(LongRunReferenceSum, OfIterationsIsThatOfThePrototype) {
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  constexpr int seeds = 6;
  double prototype = 0;
  for (ReferenceSolve const& one : recipe) prototype += one.iterations;
  double mean = 0, squares = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    double sum = 0;
    for (ReferenceSolve const& one : recipe) sum += iterations_of(*folder, one.problem, seed);
    mean += sum / seeds;
    squares += sum * sum / seeds;
  }
  std::cout << "in the mean " << mean << " of " << prototype << '\n';
  // The prototype's is one random start: what two equal solvers differ by, twice over.
  double const variance = (squares - mean * mean) * seeds / (seeds - 1.0);
  EXPECT_LE(mean, prototype + 2 * std::sqrt(variance * (1 + 1.0 / seeds)));
}

TEST(RealPencil, WithAMildlyIndefiniteMassMatrixIsRefused) {
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  auto const A = read_test_matrix<double>(*folder, "bcsstk10");
  auto const B = read_test_matrix<double>(*folder, "bcsstm10");
  EXPECT_EQ((solve<double, Exec>(A, &B, 10).report.status), Status::mass_not_positive_definite);
}

TEST(LongRealPencil, WithASingularMassMatrixGivesItsFiniteValues) {
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  auto const truth = find_truth(*folder, "gen:bcsstk13/bcsstm13 smallest");
  auto const A = read_test_matrix<double>(*folder, "bcsstk13");
  auto const B = read_test_matrix<double>(*folder, "bcsstm13");
  auto const solved = solve<double, Exec>(A, &B, 10, [](auto& options, auto const&) {
    options.tolerance = 1e-10;
    options.probe = false;
  });
  for (int j = 0; j < 10; ++j)
    EXPECT_NEAR(solved.report.eigenvalues[j], truth.eigenvalues[j], 1e-3 * truth.eigenvalues[j]);
}

}  // namespace
}  // namespace blockspan::test
