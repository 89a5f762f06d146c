// Every preconditioner leads to the same pairs, the better ones in fewer iterations; what is used
// in place of what was asked for is said.
#include <cmath>
#include <tuple>
#include <utility>

#include "apps/eig.hpp"
#include "common/machine/components.hpp"

namespace blockspan::test {
namespace {

class EigPreconditioner : public ::testing::TestWithParam<std::string> {
 public:
  Json run(std::vector<std::string> arguments, std::string const& preconditioner) const {
    arguments.insert(arguments.end(),
                     {"--preconditioner", preconditioner, "--backend", GetParam()});
    auto const [outcome, report] = run_eig(arguments);
    EXPECT_EQ(outcome.status, 0) << preconditioner << ": " << outcome.err;
    EXPECT_EQ(report["options"]["preconditioner"], preconditioner);
    auto const name = report["preconditioner"];
    EXPECT_NE(outcome.out.find(name.is_null() ? "no preconditioner" : name.get<std::string>()),
              std::string::npos)
        << outcome.out;
    for (Json const& note : report["notes"])
      EXPECT_NE(outcome.out.find(note.get<std::string>()), std::string::npos);
    return report;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, EigPreconditioner, ::testing::ValuesIn(backends()),
                         backend_test_name);

bool has_note(Json const& report, std::string const& words) {
  for (Json const& note : report["notes"])
    if (note.get<std::string>().find(words) != std::string::npos) return true;
  return false;
}

TEST_P(EigPreconditioner, FindsTheSamePairsOfALaplacian) {
  int const edge = 14;
  std::vector<std::string> const problem{"laplace7:14x14x14", "--pairs", "4"};
  double const step = std::acos(-1.0) / (edge + 1);
  double const first = 6 - 6 * std::cos(step),
               next = 6 - 4 * std::cos(step) - 2 * std::cos(2 * step);
  Json const jacobi = run(problem, "jacobi");
  EXPECT_EQ(jacobi["preconditioner"], "jacobi");
  EXPECT_TRUE(run(problem, "none")["preconditioner"].is_null());
  for (auto const& [text, name, gain] :
       {std::tuple("block-jacobi:2", "block jacobi (blocks of 2)", 0.95),
        std::tuple("chebyshev:4:30", "chebyshev of degree 4 over jacobi on [0.0667, 2]", 2.0),
        std::tuple("chebyshev", "chebyshev of degree 8 over jacobi on [0.02, 2]", 2.5)}) {
    Json const report = run(problem, text);
    EXPECT_EQ(report["preconditioner"], name);
    EXPECT_TRUE(report["notes"].empty()) << report["notes"];
    auto const values = numbers(report["eigenvalues"]);
    // ||r|| <= 1e-8 ||A|| bounds the error
    EXPECT_NEAR(values[0], first, 1.3e-7) << text;
    for (std::size_t j : {1, 2, 3}) EXPECT_NEAR(values[j], next, 1.3e-7) << text;
    EXPECT_LT(report["iterations"].get<double>() * gain, jacobi["iterations"].get<double>())
        << text;
  }
}

TEST_P(EigPreconditioner, GaussSeidelFindsThemToo) {
  if (!apps::has_kokkos_kernels) GTEST_SKIP() << apps::left_out("kokkos_kernels");
  std::vector<std::string> const problem{"laplace7:14x14x14", "--pairs", "4"};
  Json const jacobi = run(problem, "jacobi");
  Json const report = run(problem, "gauss-seidel");
  EXPECT_EQ(report["preconditioner"], "symmetric gauss-seidel (Kokkos Kernels)");
  EXPECT_TRUE(report["notes"].empty()) << report["notes"];
  for (std::size_t j = 0; j < 4; ++j)
    EXPECT_NEAR(report["eigenvalues"][j].get<double>(), jacobi["eigenvalues"][j].get<double>(),
                2.6e-7);
  EXPECT_LT(report["iterations"].get<double>() * 1.5, jacobi["iterations"].get<double>());
}

TEST_P(EigPreconditioner, FindsTheUnknownsOfANodeInElasticity) {
  std::vector<std::string> const problem{"elasticity:6", "--mass", "elasticity-mass:6", "--pairs",
                                         "3"};
  auto const wanted = numbers(run(problem, "jacobi")["eigenvalues"]);
  for (auto const& [text, name] : {std::pair("block-jacobi", "block jacobi (blocks of 3)"),
                                   std::pair("block-jacobi:6", "block jacobi (blocks of 6)"),
                                   std::pair("chebyshev:6", "chebyshev of degree 6")}) {
    Json const report = run(problem, text);
    EXPECT_EQ(report["preconditioner"].get<std::string>().rfind(name, 0), 0u);
    auto const values = numbers(report["eigenvalues"]);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(values[j] / wanted[j], 1, 1e-6) << text;
  }
}

TEST_P(EigPreconditioner, SaysWhatItPutsInPlaceOfWhatWasAskedFor) {
  Json const single = run({"laplace7:8x8x8", "--pairs", "2"}, "block-jacobi");
  EXPECT_EQ(single["preconditioner"], "block jacobi (blocks of 1)");
  EXPECT_TRUE(has_note(single, "found no dense tiles")) << single["notes"];
  // an adjacency matrix has no diagonal
  std::vector<std::string> const indefinite{"laplace5:9x9", "--operator", "adjacency", "--pairs",
                                            "2"};
  Json const polynomial = run(indefinite, "chebyshev:6");
  EXPECT_EQ(polynomial["preconditioner"], "jacobi");
  EXPECT_TRUE(has_note(polynomial,
                       "jacobi instead of chebyshev: the matrix is not positive "
                       "semidefinite: the diagonal entry of row 1 is negative, or "
                       "zero in a row with other entries"))
      << polynomial["notes"];
  Json const blocks = run(indefinite, "block-jacobi:3");
  EXPECT_EQ(blocks["preconditioner"], "block jacobi (blocks of 3)");
  EXPECT_TRUE(has_note(blocks, "27 of the blocks of block-jacobi are not positive definite"))
      << blocks["notes"];
  double const lowest = -4 * std::cos(std::acos(-1.0) / 10);
  for (Json const& report : {polynomial, blocks})
    EXPECT_NEAR(report["eigenvalues"][0].get<double>(), lowest, 1e-6);
}

TEST_P(EigPreconditioner, GaussSeidelGivesWayWhereTheDiagonalIsNotPositive) {
  if (!apps::has_kokkos_kernels) GTEST_SKIP() << apps::left_out("kokkos_kernels");
  Json const report =
      run({"laplace5:9x9", "--operator", "adjacency", "--pairs", "2"}, "gauss-seidel");
  EXPECT_EQ(report["preconditioner"], "jacobi");
  EXPECT_TRUE(has_note(report, "the diagonal entry of row 1 is not positive")) << report["notes"];
}

}  // namespace
}  // namespace blockspan::test
