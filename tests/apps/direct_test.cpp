// --preconditioner direct of both programs: few iterations on stiff problems, and what was done to
// singular and indefinite matrices in words.
#include <cmath>
#include <tuple>

#include "apps/eig.hpp"
#include "apps/refused.hpp"
#include "common/machine/components.hpp"
#include "support/matrices.hpp"

namespace blockspan::test {
namespace {

class AppsDirect : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!apps::has_direct) GTEST_SKIP() << apps::left_out("direct");
  }

  ReportRun run(std::string const& app, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--preconditioner", "direct", "--backend", GetParam()});
    auto result = run_with_report(app, arguments);
    EXPECT_EQ(result.outcome.status, 0) << result.outcome.out << result.outcome.err;
    EXPECT_EQ(result.report["preconditioner"].get<std::string>().rfind("direct (LDL^T by MUMPS", 0),
              0u);
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, AppsDirect, ::testing::ValuesIn(backends()), backend_test_name);

bool has_note(Json const& report, std::string const& words) {
  for (Json const& note : report["notes"])
    if (note.get<std::string>().find(words) != std::string::npos) return true;
  return false;
}

TEST_P(AppsDirect, TakesFewIterationsOnAGrid) {
  auto const report = run("blockspan-eig", {"laplace7:14x14x14", "--pairs", "4"}).report;
  EXPECT_TRUE(report["notes"].empty()) << report["notes"];
  EXPECT_LE(report["iterations"], 30);
  double const step = std::acos(-1.0) / 15;
  EXPECT_NEAR(report["eigenvalues"][0].get<double>(), 6 - 6 * std::cos(step), 1.3e-7);
}

TEST_P(AppsDirect, FindsTheSixRigidMotionsOfAFreeBody) {
  auto const report = run("blockspan-eig", {"elasticity:6:free", "--mass", "elasticity-mass:6:free",
                                            "--pairs", "8", "--tolerance", "1e-12"})
                          .report;
  EXPECT_TRUE(has_note(report, "singular to working precision")) << report["notes"];
  EXPECT_LE(report["iterations"], 30);
  for (std::size_t j = 0; j < 8; ++j)
    EXPECT_EQ(std::abs(report["eigenvalues"][j].get<double>()) < 1e-8, j < 6) << j;
}

TEST_P(AppsDirect, ShiftsAnAdjacencyMatrixByTheIdentity) {
  auto const report = run("blockspan-eig", {"laplace5:30x30", "--operator", "adjacency", "--pairs",
                                            "2", "--tolerance", "1e-10"})
                          .report;
  EXPECT_TRUE(has_note(report, "times the mass matrix (without one, the identity)"))
      << report["notes"];
  EXPECT_NEAR(report["eigenvalues"][0].get<double>(), -4 * std::cos(std::acos(-1.0) / 31), 1e-8);
}

TEST_P(AppsDirect, SolvesInAFewIterations) {
  auto const report =
      run("blockspan-solve", {"jump7:12:1e8:width=3", "--columns", "5", "--tolerance", "1e-12"})
          .report;
  EXPECT_TRUE(report["notes"].empty()) << report["notes"];
  EXPECT_LE(report["iterations"], 3);
  for (auto const& column : report["columns"]) EXPECT_LE(column["true_residual"], 1.001e-12);
}

/// A rank-one matrix with two right-hand sides in its range: its raised factors turn rounding of
/// these into directions near null vectors, whose curvatures are rounding.
TEST_P(AppsDirect, SolvesWithAMatrixOfRankOne) {
  TemporaryFolder const folder;
  int const v[] = {5, 0, -3, 8, 0, 0, -4, -2};
  std::string entries, loads = "%%MatrixMarket matrix array real general\n8 2\n";
  for (int i = 1; i <= 8; ++i)
    for (int j = 1; j <= i; ++j)
      if (v[i - 1] * v[j - 1] != 0)
        entries += std::to_string(i) + " " + std::to_string(j) + " " +
                   std::to_string(v[i - 1] * v[j - 1]) + "\n";
  for (double const factor : {-11.655488099006126, 1.901561001339974})
    for (int const entry : v) loads += std::to_string(factor * entry) + "\n";
  std::string const A = write_text(
                        folder / "a.mtx",
                        "%%MatrixMarket matrix coordinate real symmetric\n8 8 15\n" + entries),
                    B = write_text(folder / "b.mtx", loads);
  for (char const* method : {"block", "pseudo-block"}) {
    auto const report = run("blockspan-solve", {A, "--rhs", B, "--method", method}).report;
    for (auto const& column : report["columns"]) EXPECT_LE(column["true_residual"], 1.001e-8);
  }
}

/// Euler's beam, clamped: too stiff for Jacobi, and too small for multigrid.
TEST_P(AppsDirect, TakesOverWhereAutomaticFindsASmallSystemTooStiff) {
  TemporaryFolder const folder;
  int const elements = 300, rows = 2 * elements;
  double const k[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
  std::string entries;
  int count = 0;
  for (int e = 0; e < elements; ++e)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j <= i; ++j) {
        int const row = 2 * e + i - 1, column = 2 * e + j - 1;  // without the first node
        if (column < 1) continue;
        entries += std::to_string(row) + " " + std::to_string(column) + " " +
                   std::to_string(k[i][j]) + "\n";
        ++count;
      }
  auto const size = std::to_string(rows);
  auto const file = write_text(
      folder / "beam.mtx", "%%MatrixMarket matrix coordinate real symmetric\n" + size + " " + size +
                               " " + std::to_string(count) + "\n" + entries);
  auto const report =
      run_with_report("blockspan-solve", {file, "--columns", "1", "--tolerance", "1e-5",
                                          "--preconditioner", "automatic", "--backend", GetParam()})
          .report;
  EXPECT_EQ(report["converged"], true) << report["advice"];
  EXPECT_TRUE(has_note(report, "direct took over after " + size + " iterations with jacobi"))
      << report["notes"];
}

TEST_P(AppsDirect, IteratesLittleOnStiffMatrices) {
  if (!matrix_dir()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR names no folder";
  // eigenvalues in extended precision, with the digits that double can have
  for (auto const& [name, first, accuracy] :
       {std::tuple("bcsstk26", 953.8333695385439, 5.3e-8), {"bcsstk13", 284.3328126411853, 4e-6}}) {
    auto const report =
        run("blockspan-eig", {matrix_path(name), "--pairs", "4", "--tolerance", "1e-12"}).report;
    EXPECT_LE(report["iterations"], 30) << name;
    EXPECT_NEAR(report["eigenvalues"][0].get<double>() / first, 1, 100 * accuracy) << name;
  }
}

TEST(AppsDirectInput, RefusesIndefiniteSystemsAndWhereItWasLeftOut) {
  std::vector<std::string> const arguments{"laplace5:9x9", "--preconditioner", "direct"};
  if (!apps::has_direct) {
    for (char const* const app : {"blockspan-eig", "blockspan-solve"})
      expect_refused(app, arguments,
                     "--preconditioner direct: this build is without the component direct (apt-get "
                     "install libmumps-seq-dev, then configure with -DBlockspan_ENABLE_DIRECT=ON)");
    return;
  }
  TemporaryFolder const folder;
  auto const file = write_text(folder / "indefinite.mtx",
                               "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n"
                               "1 1 1\n2 2 1\n3 3 1\n2 1 5\n");
  expect_refused("blockspan-solve", {file, "--preconditioner", "direct"},
                 "the matrix is not positive definite: it has 1 negative eigenvalue");
}

}  // namespace
}  // namespace blockspan::test
