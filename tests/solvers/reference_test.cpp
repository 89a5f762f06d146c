#include "solvers/solve.hpp"
#include "solvers/truth.hpp"

namespace blockspan::test {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

struct Reference {
  char const* problem;
  int iterations;  ///< of a prototype: Jacobi, 4 guards, 1e-8 backward, random start, no probe
};
void PrintTo(Reference const& reference, std::ostream* out) { *out << reference.problem; }

class ReferenceCounts : public ::testing::TestWithParam<Reference> {};

TEST_P(ReferenceCounts, OfIterationsAreNotExceeded) {
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  auto const truth = find_truth(*folder, std::string(GetParam().problem) + " smallest");
  auto const A = truth_matrix<double>(*folder, truth);
  auto const B =
      truth.mass.empty() ? TestMatrix<double>() : read_test_matrix<double>(*folder, truth.mass);
  auto const solved =
      solve<double, Exec>(A, truth.mass.empty() ? nullptr : &B, 10, [&](auto& options, auto& X) {
        X = Block<double, Exec>("X", A.order(), 14);
        options.probe = false;
      });
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_LE(solved.report.iterations, 1.3 * GetParam().iterations);
  RecordProperty("iterations", solved.report.iterations);
  std::cout << GetParam().problem << " " << solved.report.iterations << " of "
            << GetParam().iterations << " in " << solved.report.seconds.total << " s\n";
}

INSTANTIATE_TEST_SUITE_P(
    Recipe, ReferenceCounts,
    ::testing::Values(Reference{"std:nos4", 29}, Reference{"std:gr_30_30", 50},
                      Reference{"std:Si2", 54}, Reference{"std:bcsstk08", 66},
                      Reference{"std:nos3", 109}, Reference{"gen:bcsstk07/bcsstm07", 165},
                      Reference{"gen:bcsstk09/bcsstm09", 133},
                      Reference{"gen:bcsstk21/bcsstm21", 175}, Reference{"lap:3elt", 169},
                      Reference{"lap:minnesota", 204}, Reference{"std:bcsstk21", 342},
                      Reference{"std:Chem97ZtZ", 365}, Reference{"std:Trefethen_2000", 10}));

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
