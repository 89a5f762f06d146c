// What blockspan-solve says of a run that did not end well: each sentence with a run it is true
// of.
#include <cmath>
#include <sstream>

#include "apps/backends.hpp"
#include "apps/refused.hpp"
#include "apps/report_run.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Columns = std::vector<std::vector<double>>;

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string vectors_file(std::string const& path, Columns const& columns) {
  std::string text = "%%MatrixMarket matrix array real general\n" +
                     std::to_string(columns.front().size()) + " " + std::to_string(columns.size()) +
                     "\n";
  for (auto const& column : columns)
    for (double const value : column) text += number(value) + "\n";
  return write_text(path, text);
}

/// scale times the tridiagonal matrix of a chain with these diagonal entries and -1 next to them;
/// with the last neighbour of row 5 changed to `mirror`, if that is not -1.
std::string chain_file(std::string const& path, std::vector<double> const& diagonal,
                       double scale = 1, double mirror = -1) {
  auto const n = diagonal.size();
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " +
                     std::to_string(n) + " " + std::to_string(3 * n - 2) + "\n";
  auto const entry = [&](std::size_t i, std::size_t j, double value) {
    text +=
        std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + number(scale * value) + "\n";
  };
  for (std::size_t i = 0; i < n; ++i) {
    entry(i, i, diagonal[i]);
    if (i + 1 == n) continue;
    entry(i, i + 1, i == 4 ? mirror : -1);
    entry(i + 1, i, -1);
  }
  return write_text(path, text);
}

/// Two chains of n vertices: the constant vector is not their only null vector.
std::string chains_file(std::string const& path, std::size_t n) {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(2 * n) +
                     " " + std::to_string(2 * n) + " " + std::to_string(4 * n - 2) + "\n";
  for (std::size_t i = 0; i < 2 * n; ++i) {
    auto const row = std::to_string(i + 1);
    bool const end = i % n == 0 || i % n == n - 1;
    text += row + " " + row + (end ? " 3\n" : " 6\n");
    if (i % n != n - 1) text += std::to_string(i + 2) + " " + row + " -3\n";
  }
  return write_text(path, text);
}

std::vector<double> neumann_diagonal(std::size_t n) {
  std::vector<double> diagonal(n, 2.0);
  diagonal.front() = diagonal.back() = 1;
  return diagonal;
}

/// A right-hand side of numbers that add up to zero, plus `mean`.
std::vector<double> load(std::size_t n, double mean) {
  std::vector<double> values;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(std::sin(3.0 * static_cast<double>(i))), sum += values.back();
  for (double& value : values) value += mean - sum / static_cast<double>(n);
  return values;
}

/// Loads of two chains, one after the other.
std::vector<double> loads(std::size_t n, double first, double second) {
  auto b = load(n, first);
  for (double const value : load(n, second)) b.push_back(value);
  return b;
}

class SolveWords : public ::testing::TestWithParam<std::string> {
 protected:
  ReportRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--backend", GetParam()});
    return run_with_report("blockspan-solve", arguments);
  }
  /// Expects exit status 1, this stop reason, and an advice that is also printed.
  Json expect_reason(std::vector<std::string> const& arguments, std::string const& reason,
                     std::string const& pattern) {
    auto const [outcome, report] = run(arguments);
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_EQ(report["stop_reason"], reason);
    std::string const advice = report["advice"];
    EXPECT_THAT(advice, MatchesRegex(pattern));
    EXPECT_THAT(outcome.out, HasSubstr(advice));
    EXPECT_EQ(advice.find(". "), std::string::npos) << "more than one sentence";
    return report;
  }
  TemporaryFolder folder;
};
INSTANTIATE_TEST_SUITE_P(Backends, SolveWords, ::testing::ValuesIn(backends()), backend_test_name);

std::string remedy(std::string const& other) {
  return "; --symmetrize takes the mean of the matrix and its " + other;
}

TEST_P(SolveWords, AMatrixThatIsNotSymmetricIsRefusedByOneOfItsEntries) {
  auto const file = chain_file(folder / "a.mtx", std::vector<double>(20, 2.0), 1, -0.999);
  test::expect_refused(
      "blockspan-solve", {file, "--backend", GetParam()},
      file + ": the matrix is not symmetric: entry (5, 6) is -0.999, but entry (6, 5) is -1" +
          remedy("transpose"));
  // digits enough to see what differs; one side alone is not rounding, however small
  auto const twelve = chain_file(folder / "t.mtx", std::vector<double>(20, 2.0), 1, -1 - 1e-12);
  test::expect_refused(
      "blockspan-solve", {twelve, "--backend", GetParam()},
      twelve +
          ": the matrix is not symmetric: entry (5, 6) is -1.000000000001, but entry "
          "(6, 5) is -1" +
          remedy("transpose"));
  auto const alone = write_text(folder / "o.mtx",
                                "%%MatrixMarket matrix coordinate real general\n3 3 6\n"
                                "1 1 2\n2 2 2\n3 3 2\n1 3 1\n3 1 1\n2 1 1e-300\n");
  test::expect_refused(
      "blockspan-solve", {alone, "--backend", GetParam()},
      alone +
          ": the matrix is not symmetric: entry (2, 1) is 1e-300, but entry (1, 2) "
          "is 0" +
          remedy("transpose"));
  auto const rounded = chain_file(folder / "r.mtx", std::vector<double>(20, 2.0), 1, -1 - 2e-16);
  EXPECT_EQ(run({rounded}).outcome.status, 0);
  auto const mean = run({twelve, "--symmetrize"});
  EXPECT_EQ(mean.outcome.status, 0);
  EXPECT_THAT(mean.report["notes"].dump(),
              HasSubstr("--symmetrize: the problem is that of the mean of the matrix and its "
                        "transpose, and so are residuals; the largest relative difference of an "
                        "entry and its mirror is 1e-12"));
}

/// A chain fixed at both ends, as codes make it that keep columns: its ends are 3 and -5 by rows of
/// a diagonal, and the line between them is the solution.
TEST_P(SolveWords, KeptColumnsOfDirichletRowsAreEliminated) {
  constexpr int n = 30;
  std::string text = "%%MatrixMarket matrix coordinate real general\n30 30 " +
                     std::to_string(3 * (n - 2) + 2) + "\n1 1 1e-3\n30 30 4\n";
  for (int i = 2; i < n; ++i)
    for (int j = i - 1; j <= i + 1; ++j)
      text += std::to_string(i) + " " + std::to_string(j) + (i == j ? " 2\n" : " -1\n");
  auto const file = write_text(folder / "kept.mtx", text);
  std::vector<double> b(n);
  b.front() = 3e-3, b.back() = -20;
  auto const rhs = vectors_file(folder / "b.mtx", {b}), x = folder / "x.mtx";
  auto const [outcome, report] = run({file, "--rhs", rhs, "--solution", x});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(report["notes"].dump(),
              HasSubstr("2 rows hold nothing but a diagonal, and other rows "
                        "have 2 entries in their columns"));
  std::istringstream lines(read_text(x));
  std::string line;
  for (int head = 0; head < 2; ++head) ASSERT_TRUE(std::getline(lines, line));
  for (int i = 0; i < n; ++i) {
    double value = 0;
    ASSERT_TRUE(lines >> value);
    EXPECT_NEAR(value, 3 - 8.0 * i / (n - 1), i == 0 || i == n - 1 ? 1e-15 : 1e-6) << i;
  }
  text.replace(text.find("10 11 -1"), 8, "10 11 -2");
  auto const other = write_text(folder / "other.mtx", text);
  test::expect_refused(
      "blockspan-solve", {other, "--backend", GetParam()},
      other + ": the matrix is not symmetric: entry (2, 1) is -1, but entry (1, 2) is 0" +
          remedy("transpose"));
}

TEST_P(SolveWords, AMatrixThatIsNotHermitianIsRefusedByOneOfItsEntries) {
  if (!has_scalar<Kokkos::complex<double>>) GTEST_SKIP() << needs_complex;
  auto const symmetric = write_text(folder / "z.mtx",
                                    "%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n"
                                    "1 1 2 0\n2 2 2 0\n2 1 0.5 1\n");
  test::expect_refused(
      "blockspan-solve", {symmetric, "--backend", GetParam()},
      symmetric +
          ": the matrix is not Hermitian: entry (1, 2) is (0.5,1), but entry (2, 1) is (0.5,1)" +
          remedy("conjugate transpose"));
}

TEST_P(SolveWords, TheIterationLimitTellsWhereItStopped) {
  auto const report = expect_reason(
      {"laplace7:12", "--columns", "2", "--max-iterations", "7"}, "max_iterations",
      "The limit of 7 iterations came first, and column 1 is at a residual of .* for 1e-08: "
      "raise --max-iterations, or use a better --preconditioner.");
  EXPECT_EQ(report["iterations"], 7);
}

TEST_P(SolveWords, AnUnattainableToleranceTellsWhatIsAttained) {
  expect_reason({"laplace7:6", "--columns", "2", "--tolerance", "1e-20"}, "attainable_limit",
                "The tolerance of 1e-20 lies below what this arithmetic reaches on this problem: "
                "column 1 is at [0-9.]+e-1[4-6], as accurate as it gets; ask for a larger "
                "--tolerance.");
}

TEST_P(SolveWords, AnIndefiniteMatrixIsNamedWithItsCurvature) {
  auto const file = chain_file(folder / "a.mtx", std::vector<double>(30, 0.5));
  expect_reason({file, "--columns", "1"}, "negative_curvature",
                "The matrix is not positive definite, since d.H A d / .* is -0.[0-9]+ for a "
                "direction d that was met: conjugate gradients do not apply.");
}

TEST_P(SolveWords, ARightHandSideOutsideTheRangeIsMeasured) {
  std::size_t const n = 40;
  auto const file = chain_file(folder / "a.mtx", neumann_diagonal(n));
  auto const rhs = vectors_file(folder / "b.mtx", {load(n, 0), load(n, 0.3)});
  std::string const solution = folder / "x.mtx";
  for (std::string const method : {"auto", "block", "pseudo-block"}) {
    auto const report = expect_reason(
        {file, "--rhs", rhs, "--method", method}, "inconsistent",
        "The matrix is singular, and column 2 has a part of 0.38 of its length outside the range, "
        "so that no solution exists: --null-space constant solves for the rest.");
    EXPECT_EQ(report["columns"][0]["status"], "converged");
    EXPECT_EQ(report["columns"][1]["iterations"], 0);
    double squares = 0;
    for (double const b : load(n, 0.3)) squares += b * b;
    EXPECT_NEAR(report["columns"][1]["outside"].get<double>(), 0.3 * std::sqrt(n / squares), 1e-12);
    auto const rest = run({file, "--rhs", rhs, "--method", method, "--null-space", "constant",
                           "--solution", solution});
    ASSERT_EQ(rest.outcome.status, 0) << rest.outcome.err;
    EXPECT_THAT(rest.report["notes"].dump(),
                HasSubstr("in column 2; residuals are those of the rest"));
    EXPECT_LE(rest.report["columns"][1]["true_residual"], 1.001e-8);
  }
}

TEST_P(SolveWords, NullVectorsOfAFileSolveForTheRest) {
  // Two chains; the load of each adds up to something else.
  std::size_t const n = 40;
  auto const file = chains_file(folder / "a.mtx", n);
  auto const rhs = vectors_file(folder / "b.mtx", {loads(n, 0.25, -0.25)});
  expect_reason({file, "--rhs", rhs}, "inconsistent",
                "The matrix is singular, and column 1 has a part of 0.32 of its length outside the "
                "range, so that no solution exists: --null-space FILE, with the vectors that the "
                "matrix maps to zero, solves for the rest.");
  std::vector<double> first(2 * n, 0.0), second(2 * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) first[i] = 7, second[n + i] = 0.1;
  auto const null = vectors_file(folder / "n.mtx", {first, second});
  auto const rest = run({file, "--rhs", rhs, "--null-space", null});
  ASSERT_EQ(rest.outcome.status, 0) << rest.outcome.err;
  EXPECT_NEAR(rest.report["columns"][0]["outside"].get<double>(), 0.3228, 0.0001);
  EXPECT_EQ(rest.report["null_vectors"], 2);
  auto const wrong = run({"laplace7:4", "--null-space", "constant"});
  EXPECT_EQ(wrong.outcome.status, 2);
  EXPECT_THAT(wrong.outcome.err,
              HasSubstr("--null-space: the matrix does not map these vectors to zero"));
}

TEST_P(SolveWords, ANullSpaceThatIsNotAllOfItLeavesTheMatrixSingular) {
  std::size_t const n = 40;
  auto const file = chains_file(folder / "a.mtx", n);
  auto const rhs =
      vectors_file(folder / "b.mtx", {loads(n, 0.25, -0.25)});  // nothing along the constants
  for (std::string const method : {"block", "pseudo-block"})
    expect_reason({file, "--rhs", rhs, "--null-space", "constant", "--method", method}, "singular",
                  "The matrix is singular to working precision, and column 1 seems to have a part "
                  "outside its range; --null-space FILE, with the vectors that the matrix maps to "
                  "zero, would solve for the rest.");
}

TEST_P(SolveWords, TheConstantVectorIsNotAdvisedWhereOthersAreMissing) {
  std::size_t const n = 40;
  auto const file = chains_file(folder / "a.mtx", n);
  auto const rhs = vectors_file(folder / "b.mtx", {loads(n, 0.25, -0.1)});
  auto const report =
      expect_reason({file, "--rhs", rhs}, "inconsistent",
                    "The matrix is singular, and column 1 has a part of 0.[0-9]+ of its length "
                    "outside the range, so that no solution exists: --null-space FILE, with the "
                    "vectors that the matrix maps to zero, solves for the rest.");
  EXPECT_EQ(report["null_vectors"], 2);
}

TEST_P(SolveWords, ASolutionWhoseProductOverflowsIsFound) {
  auto const file = write_text(folder / "a.mtx",
                               "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
                               "1 1 2\n2 2 2\n2 1 -1\n");
  auto const rhs = vectors_file(folder / "b.mtx", {{1, 2}, {1.7e308, 1.7e308}});
  auto const solved = run({file, "--rhs", rhs});
  ASSERT_EQ(solved.outcome.status, 0) << solved.outcome.out << solved.outcome.err;
  EXPECT_LE(solved.report["columns"][1]["true_residual"], 1e-8);
}

/// Below the range, beside a column of ordinary size.
TEST_P(SolveWords, ADenormalColumnDisturbsNoOther) {
  std::size_t const n = 30;
  auto tiny = load(n, 0.1);
  for (double& entry : tiny) entry *= 1e-322;
  auto const rhs = vectors_file(folder / "b.mtx", {load(n, 0.1), tiny});
  auto const file = chain_file(folder / "a.mtx", std::vector<double>(n, 2.5));
  auto const report = expect_reason(
      {file, "--rhs", rhs}, "out_of_range",
      "The solution of column 2 exceeds the range of the scalar type: scale the matrix or "
      "the right-hand side.");
  EXPECT_EQ(report["columns"][0]["status"], "converged");
}

TEST_P(SolveWords, ARightHandSideThatIsNotFiniteIsRefusedByItsEntry) {
  for (std::string const value : {"nan", "inf"}) {
    auto const rhs =
        write_text(folder / "b.mtx", "%%MatrixMarket matrix array real general\n8 1\n1\n2\n" +
                                         value + "\n4\n5\n6\n7\n8\n");
    auto const outcome =
        run_app("blockspan-solve", {"laplace7:2", "--rhs", rhs, "--backend", GetParam()});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr(rhs));
    EXPECT_THAT(outcome.err, HasSubstr(value));
  }
}

TEST_P(SolveWords, ValuesAtTheEndsOfTheRangeAreSolvedAsOthers) {
  std::size_t const n = 50;
  auto const rhs = vectors_file(folder / "b.mtx", {load(n, 0.1), load(n, -1)});
  auto const one = run({chain_file(folder / "1.mtx", std::vector<double>(n, 2.5)), "--rhs", rhs});
  ASSERT_EQ(one.outcome.status, 0);
  for (double const scale : {4e307, 1e300, 1e-300, 1e-305}) {
    auto const file = chain_file(folder / "s.mtx", std::vector<double>(n, 2.5), scale);
    auto const scaled = run({file, "--rhs", rhs});
    ASSERT_EQ(scaled.outcome.status, 0) << scale << scaled.outcome.err;
    EXPECT_NEAR(scaled.report["iterations"].get<int>(), one.report["iterations"].get<int>(), 1);
    EXPECT_THAT(scaled.report["notes"].dump(), HasSubstr("the matrix was scaled by 2^"));
    EXPECT_NEAR(scaled.report["columns"][0]["backward_error"].get<double>(),
                one.report["columns"][0]["backward_error"].get<double>(), 1e-9);
  }
  auto const tiny = chain_file(folder / "d.mtx", std::vector<double>(n, 2.5), 1e-310);
  auto const report =
      expect_reason({tiny, "--rhs", rhs, "--solution", folder / "x.mtx"}, "out_of_range",
                    "The solution of column 1 exceeds the range of the scalar type: scale "
                    "the matrix or the right-hand side.");
}

}  // namespace
}  // namespace blockspan::test
