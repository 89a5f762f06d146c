// What a run of blockspan-solve writes: the report, the table, the solution, the exit status.
#include <cmath>

#include "apps/backends.hpp"
#include "apps/reference.hpp"
#include "apps/report_run.hpp"
#include "common/machine/components.hpp"

namespace blockspan::test {
namespace {

ReportRun run_solve(std::vector<std::string> const& arguments) {
  return run_with_report("blockspan-solve", arguments);
}

std::string array_file(std::string const& path, std::vector<std::vector<double>> const& columns) {
  std::string text = "%%MatrixMarket matrix array real general\n" +
                     std::to_string(columns.front().size()) + " " + std::to_string(columns.size()) +
                     "\n";
  for (auto const& column : columns)
    for (double const value : column) text += std::to_string(value) + "\n";
  return write_text(path, text);
}

class SolveReport : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, SolveReport, ::testing::ValuesIn(backends()), backend_test_name);

TEST_P(SolveReport, HoldsEverythingThatIsPromised) {
  auto const [outcome, report] =
      run_solve({"laplace7:12x11x10", "--columns", "5", "--seed", "7", "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report["schema"], "blockspan-solve/1");
  EXPECT_EQ(report["problem"]["source"], "laplace7:12x11x10");
  EXPECT_EQ(report["problem"]["rows"], 1320);
  EXPECT_EQ(report["problem"]["columns"], 5);
  EXPECT_TRUE(report["problem"]["rhs"].is_null());
  EXPECT_EQ(report["backend"], GetParam());
  EXPECT_EQ(report["preconditioner"].get<std::string>().rfind("chebyshev of degree 8", 0), 0u);
  EXPECT_EQ(report["options"]["seed"], 7);
  EXPECT_EQ(report["options"]["tolerance"], 1e-8);
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["stop_reason"], "converged");
  EXPECT_EQ(report["method"], GetParam() == "cuda" ? "pseudo_block" : "block");
  EXPECT_FALSE(report["reason"].get<std::string>().empty());
  EXPECT_NEAR(report["norm_a"], 12, 1e-12);
  EXPECT_EQ(report["indefinite"], false);
  ASSERT_EQ(report["columns"].size(), 5u);
  for (auto const& column : report["columns"]) {
    EXPECT_EQ(column["status"], "converged");
    EXPECT_GT(column["iterations"], 10);
    EXPECT_LE(column["true_residual"], 1.001e-8);
    EXPECT_NEAR(column["true_residual"].get<double>(), column["solver_residual"].get<double>(),
                1e-13);
    EXPECT_LE(column["backward_error"], column["true_residual"]);
    EXPECT_EQ(column["cycle_residuals"].size(), 2u);
  }
  EXPECT_EQ(report["history"].size(), report["iterations"].get<std::size_t>());
  EXPECT_EQ(report["history"][0]["residuals"].size(), 5u);
  EXPECT_EQ(report["operator_applications"].get<int>(), report["iterations"].get<int>() + 1);
  for (char const* phase : {"total", "load", "setup", "solve", "product", "preconditioner", "gram",
                            "update", "dense", "verify", "check", "output"})
    EXPECT_GE(report["seconds"][phase], 0.0) << phase;
  EXPECT_GE(report["seconds"]["total"], report["seconds"]["solve"]);
  for (char const* name : {"blockspan", "kokkos", "kokkos_kernels"})
    EXPECT_TRUE(report["versions"][name].is_string()) << name;
}

TEST_P(SolveReport, SolvesTheRightHandSidesOfAFileFromAGuess) {
  TemporaryFolder const folder;
  std::vector<double> rising, zero(504, 0.0), mixed;
  for (int i = 0; i < 504; ++i) rising.push_back(i + 1), mixed.push_back(std::sin(i) * 1000);
  std::string const rhs = array_file(folder / "b.mtx", {rising, zero, mixed});
  std::string const solution = folder / "x.mtx";
  auto const cold =
      run_solve({"laplace7:9x8x7", "--rhs", rhs, "--solution", solution, "--backend", GetParam()});
  ASSERT_EQ(cold.outcome.status, 0) << cold.outcome.err;
  EXPECT_EQ(cold.report["columns"][0]["status"], "converged");
  EXPECT_EQ(cold.report["columns"][1]["status"], "zero_rhs");
  EXPECT_EQ(cold.report["problem"]["rhs"], rhs);
  auto const X = read_vectors(solution), B = read_vectors(rhs);
  ASSERT_EQ(X.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) {
    ASSERT_EQ(X[j].size(), 504u);
    double squares = 0, size = 0;  // straight from the stencil
    auto const at = [&](int x, int y, int z) {
      bool const inside = x >= 0 && x < 9 && y >= 0 && y < 8 && z >= 0 && z < 7;
      return inside ? X[j][static_cast<std::size_t>(x + 9 * (y + 8 * z))].real() : 0.0;
    };
    for (int z = 0; z < 7; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 9; ++x) {
          double const b = B[j][static_cast<std::size_t>(x + 9 * (y + 8 * z))].real();
          double const Ax = 6 * at(x, y, z) - at(x - 1, y, z) - at(x + 1, y, z) - at(x, y - 1, z) -
                            at(x, y + 1, z) - at(x, y, z - 1) - at(x, y, z + 1);
          squares += std::pow(b - Ax, 2), size += b * b;
        }
    double const residual = j == 1 ? std::sqrt(squares) : std::sqrt(squares / size);
    EXPECT_NEAR(residual, cold.report["columns"][j]["true_residual"].get<double>(), 1e-13);
    EXPECT_LE(residual, 1.001e-8);
  }
  auto const warm =
      run_solve({"laplace7:9x8x7", "--rhs", rhs, "--guess", solution, "--backend", GetParam()});
  ASSERT_EQ(warm.outcome.status, 0) << warm.outcome.err;
  EXPECT_EQ(warm.report["iterations"], 0);
}

TEST_P(SolveReport, AnAbsoluteToleranceIsCheckedInTheUnitsOfTheRightHandSide) {
  TemporaryFolder const folder;
  std::vector<double> const large(125, 1000.0), small(125, 0.001);  // norms 11180.3 and 0.0111803
  auto const rhs = array_file(folder / "b.mtx", {large, small});
  auto const [outcome, report] =
      run_solve({"laplace7:5x5x5", "--rhs", rhs, "--tolerance", "0", "--absolute-tolerance", "1e-4",
                 "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LE(report["columns"][0]["true_residual"].get<double>() * 11180.4, 1e-4);
  EXPECT_LE(report["columns"][1]["true_residual"].get<double>() * 0.0111804, 1e-4);
}

TEST_P(SolveReport, RunsTheMethodAskedFor) {
  for (std::string const method : {"block", "pseudo-block"}) {
    auto const [outcome, report] = run_solve({"laplace5:20x20", "--method", method,
                                              "--preconditioner", "none", "--backend", GetParam()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(report["method"], method == "block" ? "block" : "pseudo_block");
    EXPECT_EQ(report["reason"], "asked for");
    EXPECT_TRUE(report["preconditioner"].is_null());
  }
}

TEST_P(SolveReport, OneReductionTakesAboutAsManyIterationsAsTwo) {
  auto const with = [&](std::vector<std::string> const& more) {
    std::vector<std::string> arguments{"laplace7:14x13x12", "--method", "pseudo-block",
                                       "--preconditioner",  "jacobi",   "--backend",
                                       GetParam()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto const [outcome, report] = run_solve(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(report["options"]["single_reduction"], !more.empty());
    return report["iterations"].get<int>();
  };
  int const two = with({}), one = with({"--single-reduction"});
  EXPECT_LE(std::abs(one - two), 3 + two / 20);
}

TEST_P(SolveReport, SolvesInMixedPrecisionToTheSameAccuracy) {
  if (!has_scalar<float>) GTEST_SKIP() << "a build without float";
  for (std::string const preconditioner : {"jacobi", "chebyshev", "block-jacobi:2", "none"}) {
    auto const [outcome, report] =
        run_solve({"laplace7:12x11x10", "--precision", "mixed", "--tolerance", "1e-11",
                   "--preconditioner", preconditioner, "--backend", GetParam()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(report["options"]["precision"], "mixed");
    EXPECT_NE(report["reason"].get<std::string>().find("corrections in single precision"),
              std::string::npos);
    EXPECT_EQ(report["counters"]["inner_cycles"], report["counters"]["cycles"]);
    EXPECT_EQ(report["operator_applications"], report["counters"]["cycles"]);
    EXPECT_GT(report["counters"]["inner_operator_applications"], report["iterations"]);
    EXPECT_GT(report["seconds"]["inner"], 0.0);
    for (auto const& column : report["columns"]) {
      EXPECT_LE(column["true_residual"], 1.001e-11);
      EXPECT_EQ(column["inner_iterations"], column["iterations"]);
      EXPECT_EQ(column["fell_back"], false);
    }
    EXPECT_NE(outcome.out.find("more in single precision"), std::string::npos) << outcome.out;
  }
}

TEST_P(SolveReport, GaussSeidelTakesFewerIterations) {
  if (!apps::has_kokkos_kernels) GTEST_SKIP() << apps::left_out("kokkos_kernels");
  auto const run_with = [&](std::string const& preconditioner) {
    auto const [outcome, report] = run_solve(
        {"laplace7:12x11x10", "--preconditioner", preconditioner, "--backend", GetParam()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return report;
  };
  int const jacobi = run_with("jacobi")["iterations"];
  Json const report = run_with("gauss-seidel");
  EXPECT_EQ(report["preconditioner"], "symmetric gauss-seidel (Kokkos Kernels)");
  EXPECT_LT(1.4 * report["iterations"].get<int>(), jacobi);
}

TEST_P(SolveReport, SaysWhyAndWhatNextWhenIterationsRunOut) {
  auto const [outcome, report] =
      run_solve({"laplace7:12x11x10", "--max-iterations", "2", "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("NOT SOLVED: 0 of 8 columns"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("raise --max-iterations"), std::string::npos) << outcome.out;
  EXPECT_EQ(report["converged"], false);
  EXPECT_EQ(report["stop_reason"], "max_iterations");
  EXPECT_EQ(report["columns"][3]["status"], "max_iterations");
  EXPECT_GT(report["columns"][3]["true_residual"], 1e-8);
}

TEST_P(SolveReport, TellsAnIndefiniteMatrix) {
  TemporaryFolder const folder;
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n60 60 119\n";
  for (int i = 1; i <= 60; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 1.0\n";
    if (i > 1) text += std::to_string(i) + " " + std::to_string(i - 1) + " -1.0\n";
  }
  std::string const A = write_text(folder / "a.mtx", text);
  auto const [outcome, report] = run_solve({A, "--columns", "3", "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(report["indefinite"], true);
  EXPECT_LT(report["curvature"], 0);
  EXPECT_EQ(report["stop_reason"], "negative_curvature");
  EXPECT_NE(outcome.out.find("not positive definite"), std::string::npos) << outcome.out;
}

/// The Laplacian of a path of 50 points and of 5 points without edges, whose rows are empty.
TEST_P(SolveReport, SolvesGraphsWithIsolatedPoints) {
  TemporaryFolder const folder;
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n55 55 99\n";
  for (int i = 1; i <= 50; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + (i % 49 == 1 ? " 1\n" : " 2\n");
    if (i > 1) text += std::to_string(i) + " " + std::to_string(i - 1) + " -1\n";
  }
  std::string const A = write_text(folder / "a.mtx", text);
  std::string ends = "%%MatrixMarket matrix array real general\n55 1\n1\n";
  for (int i = 2; i <= 55; ++i) ends += i == 50 ? "-1\n" : "0\n";
  std::string const rhs = write_text(folder / "b.mtx", ends);
  for (char const* preconditioner : {"jacobi", "block-jacobi:2", "chebyshev", "none"}) {
    auto const [outcome, report] =
        run_solve({A, "--rhs", rhs, "--preconditioner", preconditioner, "--backend", GetParam()});
    EXPECT_EQ(outcome.status, 0) << preconditioner << outcome.err << outcome.out;
    EXPECT_LE(report["columns"][0]["true_residual"], 1e-8);
  }
}

TEST(SolveOutput, IsATableWithoutControlCharactersInAPipe) {
  Outcome const outcome = run_app("blockspan-solve", {"laplace7:10x10x10", "--columns", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (char const c : outcome.out) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
  for (char const* word : {"laplace7:10x10x10", "1,000 rows", "2 columns", "true residual",
                           "converged", "All 2 columns solved", "iterations", "seconds"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome.out;
}

TEST(SolveOutput, IsALiveLineOnATerminal) {
  Outcome const outcome = run_app_on_terminal("blockspan-solve", {"laplace7:20x20x20"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("\r\033[Kiteration"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\r\033[Kmatrix"), std::string::npos) << outcome.out;
}

TEST(SolveOutput, IsNothingWhenQuiet) {
  Outcome const outcome = run_app_on_terminal("blockspan-solve", {"laplace7:8x8x8", "--quiet"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST(SolveOutput, KeepsTheBestSoFarWhenInterrupted) {
  if (host_backend().empty()) GTEST_SKIP() << needs_host;
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  Outcome const outcome = run_app_and_interrupt(
      "blockspan-solve",
      {"laplace7:90x90x90", "--tolerance", "1e-13", "--columns", "16", "--method", "pseudo-block",
       "--backend", host_backend(), "--report", path},
      3);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  Json const report = Json::parse(read_text(path));
  EXPECT_EQ(report["stop_reason"], "stopped_by_monitor");
  EXPECT_EQ(report["converged"], false);
  EXPECT_NE(outcome.out.find("Interrupted"), std::string::npos);
}

}  // namespace
}  // namespace blockspan::test
