// What a run writes: the report's members and values, the table, the eigenvectors, the exit status.
#include <cmath>

#include "apps/eig.hpp"
#include "apps/reference.hpp"

namespace blockspan::test {
namespace {

class EigReport : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, EigReport, ::testing::ValuesIn(backends()), backend_test_name);

TEST_P(EigReport, HoldsEverythingThatIsPromised) {
  auto const [outcome, report] = run_eig({"laplace7:12x11x10", "--pairs", "4", "--seed", "7",
                                          "--path", "iterative", "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report["problem"]["source"], "laplace7:12x11x10");
  EXPECT_EQ(report["problem"]["rows"], 1320);
  EXPECT_EQ(report["problem"]["nonzeros"], 1320 + 2 * (11 * 110 + 10 * 120 + 9 * 132));
  EXPECT_EQ(report["problem"]["operator"], "matrix");
  EXPECT_TRUE(report["problem"]["mass"].is_null());
  EXPECT_EQ(report["backend"], GetParam());
  EXPECT_EQ(report["device"]["threads"].is_null(), GetParam() == "cuda");
  EXPECT_EQ(report["options"]["pairs"], 4);
  EXPECT_EQ(report["options"]["block"], 8);
  EXPECT_EQ(report["options"]["seed"], 7);
  EXPECT_EQ(report["options"]["tolerance"], 1e-8);
  EXPECT_EQ(report["options"]["criterion"], "digits");
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["stop_reason"], "converged");
  EXPECT_EQ(report["path"], "iterative");
  EXPECT_NEAR(report["norms"]["A"], 12, 1e-12);
  EXPECT_EQ(report["norms"]["M"], 1.0);
  EXPECT_EQ(report["status"], Json(std::vector<std::string>(4, "converged")));
  EXPECT_EQ(report["history"].size(), report["iterations"].get<std::size_t>() + 1);
  EXPECT_GT(report["operator_applications"], 0);
  for (char const* key : {"eigenvalues", "residuals", "relative_residuals", "solver_residuals"})
    EXPECT_EQ(report[key].size(), 4u) << key;
  for (char const* phase : {"total", "load", "setup", "solve", "operator", "gram", "update",
                            "dense", "residual", "check", "output"})
    EXPECT_GE(report["seconds"][phase], 0.0) << phase;
  EXPECT_GT(report["seconds"]["total"], report["seconds"]["solve"]);
  for (char const* name : {"blockspan", "kokkos", "kokkos_kernels"})
    EXPECT_TRUE(report["versions"][name].is_string()) << name;
}

TEST_P(EigReport, OfMixedPrecisionHasThePairsOfWorkingPrecision) {
  std::vector<std::string> const pencil = {"elasticity:6", "--mass",    "elasticity-mass:6",
                                           "--pairs",      "4",         "--path",
                                           "iterative",    "--backend", GetParam()};
  auto mixed_pencil = pencil;
  mixed_pencil.insert(mixed_pencil.end(), {"--precision", "mixed"});
  auto const [outcome, report] = run_eig(mixed_pencil);
  if (outcome.err.find("no single precision") != std::string::npos)
    GTEST_SKIP() << "this build has no single precision";
  auto const [plain_outcome, plain] = run_eig(pencil);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(plain_outcome.status, 0) << plain_outcome.err;
  EXPECT_EQ(report["options"]["precision"], "mixed");
  EXPECT_EQ(report["single_precision"]["status"], "converged");
  EXPECT_EQ(report["single_precision"]["used"], true);
  EXPECT_GT(report["single_precision"]["iterations"], 0);
  EXPECT_LT(report["single_precision"]["iterations"], report["iterations"]);
  EXPECT_TRUE(plain["single_precision"].is_null());
  EXPECT_EQ(report["history"].size(), report["iterations"].get<std::size_t>() + 1);
  for (std::size_t j = 0; j < 4; ++j) {
    double const value = plain["eigenvalues"][j];
    EXPECT_NEAR(report["eigenvalues"][j].get<double>(), value, 1e-6 * value);
    // Also what the history shows of single precision is in the units of the problem.
    double const early = report["history"][10]["eigenvalues"][j];
    EXPECT_GT(early, 0.99 * value);
    EXPECT_LE(report["residuals"][j], 1.01e-8);
  }
  EXPECT_NE(outcome.out.find("in single precision)"), std::string::npos) << outcome.out;
}

TEST_P(EigReport, WritesVectorsThatSatisfyTheEquation) {
  TemporaryFolder const folder;
  std::string const vectors = folder / "x.mtx";
  auto const [outcome, report] =
      run_eig({"laplace7:9x8x7", "--pairs", "3", "--vectors", vectors, "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  auto const X = read_vectors(vectors);
  ASSERT_EQ(X.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) {
    ASSERT_EQ(X[j].size(), 504u);
    EXPECT_NEAR(norm(X[j]), 1, 1e-12);
    // A x on the grid, straight from the stencil.
    double squares = 0;
    auto const at = [&](int x, int y, int z) {
      bool const inside = x >= 0 && x < 9 && y >= 0 && y < 8 && z >= 0 && z < 7;
      return inside ? X[j][static_cast<std::size_t>(x + 9 * (y + 8 * z))].real() : 0.0;
    };
    for (int z = 0; z < 7; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 9; ++x) {
          double const Ax = 6 * at(x, y, z) - at(x - 1, y, z) - at(x + 1, y, z) - at(x, y - 1, z) -
                            at(x, y + 1, z) - at(x, y, z - 1) - at(x, y, z + 1);
          squares += std::pow(Ax - report["eigenvalues"][j].get<double>() * at(x, y, z), 2);
        }
    double const backward =
        std::sqrt(squares) / (12 + report["eigenvalues"][j].get<double>()) / norm(X[j]);
    EXPECT_NEAR(backward, report["residuals"][j].get<double>(), 1e-14);
    EXPECT_LE(backward, 1e-8);
  }
}

TEST_P(EigReport, SaysWhyAndWhatNextWhenIterationsRunOut) {
  auto const [outcome, report] = run_eig({"laplace7:12x11x10", "--pairs", "4", "--max-iterations",
                                          "1", "--path", "iterative", "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("NOT CONVERGED"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("raise --max-iterations"), std::string::npos) << outcome.out;
  EXPECT_EQ(report["converged"], false);
  EXPECT_EQ(report["stop_reason"], "max_iterations");
  EXPECT_EQ(report["status"][0], "not_converged");
  EXPECT_GT(report["residuals"][0], 1e-8);
}

TEST(EigOutput, IsATableWithoutControlCharactersInAPipe) {
  Outcome const outcome = run_app("blockspan-eig", {"laplace7:10x10x10", "--pairs", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (char const c : outcome.out) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
  for (char const* word : {"laplace7:10x10x10", "1,000 rows", "eigenvalue", "backward error",
                           "converged", "All 2 pairs converged", "iterations", "seconds"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome.out;
}

TEST(EigOutput, IsALiveLineOnATerminal) {
  Outcome const outcome = run_app_on_terminal("blockspan-eig", {"laplace7:20x20x20"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("\r\033[Kiteration"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("worst"), std::string::npos);
  // The line is gone before the table begins.
  EXPECT_NE(outcome.out.find("\r\033[Kmatrix"), std::string::npos) << outcome.out;
}

TEST(EigOutput, IsNothingWhenQuiet) {
  Outcome const outcome = run_app_on_terminal("blockspan-eig", {"laplace7:8x8x8", "--quiet"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST(EigOutput, KeepsTheBestSoFarWhenInterrupted) {
  if (host_backend().empty()) GTEST_SKIP() << needs_host;
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  Outcome const outcome =
      run_app_and_interrupt("blockspan-eig",
                            {"laplace7:40x40x40", "--tolerance", "1e-13", "--pairs", "20", "--path",
                             "iterative", "--backend", host_backend(), "--report", path},
                            2);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  Json const report = Json::parse(read_text(path));
  EXPECT_EQ(report["stop_reason"], "stopped_by_monitor");
  EXPECT_EQ(report["converged"], false);
  EXPECT_EQ(report["eigenvalues"].size(), 20u);
  EXPECT_NE(outcome.out.find("Interrupted"), std::string::npos);
}

TEST(EigOutput, ReplacesAnOldReportAndLeavesNothingBeside) {
  TemporaryFolder const folder;
  std::string const path = write_text(folder / "report.json", "old");
  std::vector<std::string> const arguments{"laplace7:6x6x6", "--pairs", "1", "--report", path};
  EXPECT_EQ(run_app("blockspan-eig", arguments).status, 0);
  EXPECT_EQ(Json::parse(read_text(path))["converged"], true);
  auto const files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

}  // namespace
}  // namespace blockspan::test
