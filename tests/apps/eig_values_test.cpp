// The right numbers: spectra known in closed form, pencils, graphs, both ends, both criteria,
// peers.
#include <cmath>
#include <limits>
#include <numbers>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "apps/eig.hpp"
#include "apps/reference.hpp"
#include "common/machine/components.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

/// The eigenvalues of the 7-point Laplacian of a grid with Dirichlet boundaries, ascending.
std::vector<double> laplace7(int nx, int ny, int nz) {
  auto const axis = [](int k, int n) {
    double const s = std::sin(k * std::numbers::pi / (2 * (n + 1)));
    return 4 * s * s;
  };
  std::vector<double> values;
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j)
      for (int k = 1; k <= nz; ++k) values.push_back(axis(i, nx) + axis(j, ny) + axis(k, nz));
  std::sort(values.begin(), values.end());
  return values;
}

/// A backward error e moves an eigenvalue of a Hermitian matrix by at most e (||A|| + |lambda|).
void expect_values(Json const& report, std::vector<double> const& expected) {
  auto const values = numbers(report["eigenvalues"]);
  auto const errors = numbers(report["residuals"]);
  double const scale = report["norms"]["A"].get<double>() + std::abs(values.back());
  double const worst = *std::max_element(errors.begin(), errors.end());
  double const bound = (std::sqrt(static_cast<double>(values.size())) * worst + 1e-14) * scale;
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], expected[j], bound) << j;
}

class EigValues : public ::testing::TestWithParam<std::string> {
 protected:
  ReportRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--backend", GetParam()});
    ReportRun result = run_eig(arguments);
    EXPECT_EQ(result.outcome.status, 0) << result.outcome.out << result.outcome.err;
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, EigValues, ::testing::ValuesIn(backends()), backend_test_name);

TEST_P(EigValues, AreThoseOfTheGridWithAllTheirCopies) {
  auto const [outcome, report] = run({"laplace7:13x13x13", "--tolerance", "1e-11"});
  expect_values(report, laplace7(13, 13, 13));
}

/// tridiag(-1 + skew, 2, -1 - skew): its mean with its transpose is the chain.
std::string skew_chain(TemporaryFolder const& folder, int n, double skew) {
  std::ostringstream text;
  text.precision(17);
  text << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << 3 * n - 2;
  for (int i = 1; i <= n; ++i) {
    text << '\n' << i << ' ' << i << " 2";
    if (i < n)
      text << '\n'
           << i << ' ' << i + 1 << ' ' << -1 - skew << '\n'
           << i + 1 << ' ' << i << ' ' << -1 + skew;
  }
  return write_text(folder / "chain.mtx", text.str() + "\n");
}

// What rounding alone may leave is solved as it is; more is refused, or the mean where asked for.
TEST_P(EigValues, AreThoseOfAMatrixThatIsSymmetricToRounding) {
  TemporaryFolder const folder;
  int const n = 100;
  double const ulp = std::numeric_limits<double>::epsilon();
  for (auto const* path : {"dense", "iterative"})
    for (double const skew : {2 * ulp, 1e-8}) {
      bool const rounding = skew < 1e-8;
      std::vector<std::string> arguments{skew_chain(folder, n, skew), "--pairs", "4", "--path",
                                         path};
      if (!rounding) {
        auto const outcome = run_app("blockspan-eig", arguments);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(outcome.err, ::testing::HasSubstr("chain.mtx: the matrix is not symmetric: "));
        EXPECT_THAT(outcome.err, ::testing::HasSubstr("--symmetrize"));
        arguments.emplace_back("--symmetrize");
      }
      auto const [outcome, report] = run(arguments);
      auto const values = numbers(report["eigenvalues"]);
      for (int j = 0; j < 4; ++j) {
        double const s = std::sin((j + 1) * std::numbers::pi / (2 * (n + 1)));
        EXPECT_NEAR(values[j], 4 * s * s, 1e-4 * 4 * s * s) << path;
      }
      EXPECT_THAT(report["notes"].dump(),
                  ::testing::HasSubstr(rounding ? "symmetric to rounding only" : "mean"));
    }
}

TEST_P(EigValues, AreTheLargestFromTheTop) {
  auto expected = laplace7(14, 12, 10);
  std::reverse(expected.begin(), expected.end());
  auto const [outcome, report] = run({"laplace7:14x12x10", "--which", "largest", "--pairs", "6"});
  expect_values(report, expected);
}

TEST_P(EigValues, HaveTheDigitsThatTheRelativeCriterionPromises) {
  auto const [outcome, report] =
      run({"laplace7:14x12x10", "--criterion", "relative", "--pairs", "5", "--tolerance", "1e-9"});
  auto const expected = laplace7(14, 12, 10);
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_LE(report["relative_residuals"][j], 1e-9 * 1.01);
    EXPECT_NEAR(report["eigenvalues"][j].get<double>() / expected[j], 1, 3e-9);
  }
}

/// Residuals of zero are none that contradict the solver, and those whose squares underflow no
/// zeros.
TEST_P(EigValues, MayHaveNoResidualAtAll) {
  TemporaryFolder const folder;
  std::string const header = "%%MatrixMarket matrix coordinate real symmetric\n";
  auto const diagonal =
      write_text(folder / "diagonal.mtx", header + "3 3 3\n1 1 3\n2 2 1e-9\n3 3 7\n");
  auto const relative = run({diagonal, "--pairs", "2", "--criterion", "relative"}).report;
  EXPECT_EQ(relative["relative_residuals"], Json({0.0, 0.0}));
  auto const huge = write_text(folder / "huge.mtx",
                               header + "4 4 6\n1 1 1e200\n2 2 2\n3 3 2\n4 4 2\n3 2 -1\n4 3 -1\n");
  auto const graded = run({huge, "--pairs", "4"}).report;
  auto const values = numbers(graded["eigenvalues"]);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(values[k], 2 - std::sqrt(2) * (1 - k), 1e-13);
}

TEST_P(EigValues, AreTheSameWithAnotherProduct) {
  std::vector<std::string> const arguments{"laplace7:14x12x10", "--tolerance", "1e-10"};
  for (std::string const product : {"groups", "kokkos-kernels", "cusparse"}) {
    if (product == "kokkos-kernels" && !apps::has_kokkos_kernels) continue;
    if (product == "cusparse" && (GetParam() != "cuda" || !apps::has_cusparse)) continue;
    auto with_product = arguments;
    with_product.insert(with_product.end(), {"--spmm", product});
    auto const [outcome, report] = run(with_product);
    EXPECT_EQ(report["options"]["spmm"], product);
    expect_values(report, laplace7(14, 12, 10));
  }
}

TEST_P(EigValues, OfASmallMatrixComeFromTheDensePath) {
  auto const [outcome, report] =
      run({"laplace7:3x3x3", "--pairs", "27", "--preconditioner", "none"});
  EXPECT_EQ(report["path"], "dense");
  expect_values(report, laplace7(3, 3, 3));
}

TEST_P(EigValues, OfAnElasticBodySatisfyThePencilOfTheFiles) {
  TemporaryFolder const folder;
  AnyBackend const exec;
  std::string const stiffness = folder / "K.mtx", mass = folder / "M.mtx.gz",
                    vectors = folder / "X.mtx.gz";
  write_matrix_market(stiffness, generate<double>(exec, "elasticity:6"));
  write_matrix_market(mass, generate<double>(exec, "elasticity-mass:6"));
  auto const made = run({"elasticity:6", "--mass", "elasticity-mass:6", "--pairs", "5"}).report;
  auto const report = run({stiffness, "--mass", mass, "--pairs", "5", "--vectors", vectors}).report;
  auto const K = read_reference(stiffness), M = read_reference(mass);
  auto const X = read_vectors(vectors);
  auto const values = numbers(report["eigenvalues"]);
  EXPECT_EQ(report["problem"]["mass"]["nonzeros"], M.entries.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    Vector const Mx = M.times(X[j]);
    EXPECT_NEAR(dot(X[j], Mx).real(), 1, 1e-12);
    double const backward =
        norm(residual(K, X[j], values[j], Mx)) / ((K.norm1() + values[j] * M.norm1()) * norm(X[j]));
    EXPECT_NEAR(backward, report["residuals"][j].get<double>(), 1e-13);
    EXPECT_LE(backward, 1.01e-8);
    EXPECT_NEAR(made["eigenvalues"][j].get<double>() / values[j], 1, 1e-6);
  }
  // The two bending modes of a cube clamped at one face are one mode and its mirror image.
  EXPECT_NEAR(values[0] / values[1], 1, 1e-6);
  EXPECT_GT(values[2] / values[1], 1.1);
}

/// A path of n vertices: its Laplacian has 2 - 2 cos(k pi / n), its adjacency 2 cos(k pi / (n +
/// 1)).
std::string path_graph(int n) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " +
                     std::to_string(n) + " " + std::to_string(n) + "\n1 1 5\n";
  for (int i = 2; i <= n; ++i) text += std::to_string(i) + " " + std::to_string(i - 1) + " -7.5\n";
  return text;
}

TEST_P(EigValues, OfAGraphAreThoseOfItsPatternAlone) {
  TemporaryFolder const folder;
  std::string const path = write_text(folder / "path.mtx", path_graph(150));
  std::vector<double> laplacian, adjacency;
  for (int k = 0; k < 4; ++k) {
    laplacian.push_back(2 - 2 * std::cos(k * std::numbers::pi / 150));
    adjacency.push_back(2 * std::cos((k + 1) * std::numbers::pi / 151));
  }
  auto const L = run({path, "--operator", "laplacian", "--pairs", "4"}).report;
  expect_values(L, laplacian);
  EXPECT_EQ(L["problem"]["nonzeros"], 150 + 2 * 149);
  EXPECT_THAT(L["notes"].dump(),
              ::testing::HasSubstr(
                  "--operator laplacian is of the pattern alone; weights other than 1, which count "
                  "as 1: 149, entries without a mirror, which count both ways: 149, entries of the "
                  "diagonal, which are left out: 1"));
  auto const G =
      run({path, "--operator", "adjacency", "--which", "largest", "--pairs", "4"}).report;
  expect_values(G, adjacency);
  EXPECT_EQ(G["problem"]["nonzeros"], 2 * 149);
}

/// The Hermitian tridiagonal matrix with 2 on the diagonal and i, -i next to it is similar to the
/// one-dimensional Laplacian.
TEST_P(EigValues, OfAComplexHermitianMatrixAreReal) {
  if (!has_scalar<Kokkos::complex<double>>) GTEST_SKIP() << needs_complex;
  TemporaryFolder const folder;
  int const n = 120;
  std::string text = "%%MatrixMarket matrix coordinate complex hermitian\n120 120 239\n";
  for (int i = 1; i <= n; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 2 0\n";
    if (i < n) text += std::to_string(i + 1) + " " + std::to_string(i) + " 0 1\n";
  }
  std::string const file = write_text(folder / "i.mtx", text), vectors = folder / "x.mtx";
  auto const report = run({file, "--pairs", "3", "--vectors", vectors}).report;
  EXPECT_EQ(report["problem"]["scalar"], "complex<double>");
  EXPECT_EQ(report["problem"]["nonzeros"], n + 2 * (n - 1));
  std::vector<double> expected;
  for (int k = 1; k <= 3; ++k) expected.push_back(2 - 2 * std::cos(k * std::numbers::pi / (n + 1)));
  expect_values(report, expected);
  auto const A = read_reference(file);
  auto const X = read_vectors(vectors);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_LE(norm(residual(A, X[j], report["eigenvalues"][j], X[j])), 4.1e-8 * norm(X[j]));
}

TEST_P(EigValues, OfAMatrixThatIsNotHermitianAreRefusedWithAReason) {
  if (!has_scalar<Kokkos::complex<double>>) GTEST_SKIP() << needs_complex;
  TemporaryFolder const folder;
  std::string text = "%%MatrixMarket matrix coordinate complex symmetric\n90 90 179\n";
  for (int i = 1; i <= 90; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 2 1\n";
    if (i < 90) text += std::to_string(i + 1) + " " + std::to_string(i) + " 0 1\n";
  }
  auto const [outcome, report] =
      run_eig({write_text(folder / "s.mtx", text), "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(report.is_null());
  EXPECT_NE(outcome.err.find("s.mtx: the matrix is not Hermitian: entry ("), std::string::npos)
      << outcome.err;
}

TEST_P(EigValues, OfAnIndefiniteMassAreRefusedWithAReason) {
  TemporaryFolder const folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n125 125 125\n";
  for (int i = 1; i <= 125; ++i)
    text += std::to_string(i) + " " + std::to_string(i) + (i % 2 == 0 ? " 1\n" : " -1\n");
  auto const [outcome, report] = run_eig(
      {"laplace7:5x5x5", "--mass", write_text(folder / "m.mtx", text), "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(report["stop_reason"], "mass_not_positive_definite");
  EXPECT_NE(outcome.out.find("is not positive definite"), std::string::npos) << outcome.out;
}

TEST(EigNotes, TellOfAToleranceBelowTheAttainable) {
  auto const [outcome, report] =
      run_eig({"laplace7:9x9x9", "--pairs", "4", "--tolerance", "1e-17", "--path", "iterative"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(report["stop_reason"], "attainable_limit");
  EXPECT_EQ(report["status"][3], "attainable_limit");
  EXPECT_NE(outcome.out.find("at attainable limit"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("ask for a larger --tolerance"), std::string::npos) << outcome.out;
  EXPECT_LE(report["residuals"][3], 50 * 0x1p-53);
}

/// But that of a BLAS that does not know the processor.
std::size_t notes_of_problem(nlohmann::json const& report) {
  std::size_t count = 0;
  for (std::string const note : report["notes"])
    count += note.find("OPENBLAS_CORETYPE") == std::string::npos ? 1 : 0;
  return count;
}

TEST(EigNotes, TellOfAClusterThatIsCut) {
  // The second to fourth eigenvalue of a cube are equal.
  auto const [outcome, report] =
      run_eig({"laplace7:9x9x9", "--pairs", "2", "--tolerance", "1e-10"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("cuts a cluster"), std::string::npos) << outcome.out;
  EXPECT_EQ(notes_of_problem(report), 1u);
  auto const whole = run_eig({"laplace7:9x9x9", "--pairs", "4", "--tolerance", "1e-10"});
  EXPECT_EQ(notes_of_problem(whole.report), 0u) << whole.report["notes"];
}

}  // namespace
}  // namespace blockspan::test
