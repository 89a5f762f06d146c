// Inputs rebuilt from bug reports of people who do this job, with right answers: a folder with
// lists of cases (cases.json, cases_open.json), named by BLOCKSPAN_FIELD_DIR. A claim of the
// programs must be right; where an answer is asked for, there must be one; a refusal must say what
// is wrong.
#include "apps/field.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/eig.hpp"
#include "apps/reference.hpp"

namespace blockspan::test {
namespace {

using Case = FieldCase;

bool holds_words(Case const& c, FieldRun const& run) {
  std::string const text = lowered(run.text());
  for (std::string const word : c.expected().value("words", Json::array()))
    if (text.find(lowered(word)) == text.npos) return false;
  return true;
}

/// Whether a note says that digits are missing.
bool warns(Json const& report) {
  for (std::string const note : report["notes"])
    if (note.find("digit") != note.npos || note.find("certain") != note.npos) return true;
  return false;
}

/// Every value claimed is right, as far as the criterion promises.
void expect_values(Case const& c, FieldRun const& run) {
  auto const& expected = c.expected();
  auto const& report = run.report;
  auto const exact = numbers(expected["values"]), found = numbers(report["eigenvalues"]);
  bool const rough = c.kind() == "values_or_warning";
  if (rough && (run.outcome.status == 1 || warns(report))) return;
  bool const digits = c.value_of("--criterion").empty();
  double const a = report["norms"]["A"], m = report["norms"]["M"];
  for (std::size_t j = 0; j < std::min(exact.size(), found.size()); ++j) {
    if (report["status"][j] != "converged") continue;
    double const size = std::abs(exact[j]), scale = a + size * m;
    double allowed = size > 1e-15 * scale ? (digits ? 2e-4 : 1e-3) * size : 1e-7 * scale;
    if (rough) allowed = 0.01 * size;
    allowed = std::max(allowed, expected.value("rtol", 0.0) * size);
    EXPECT_LE(std::abs(found[j] - exact[j]), allowed) << "pair " << j + 1 << ": " << found[j];
  }
  if (c.kind() == "eigenvalues") {
    EXPECT_EQ(found.size(), exact.size());
  }
}

/// Numbers that norms of doubles can judge.
bool in_range(ReferenceMatrix const& A) {
  double largest = 0;
  for (auto const& e : A.entries) largest = std::max(largest, std::abs(e.value));
  return largest < 1e100 && largest > 1e-100;
}

/// Every pair claimed has the residual that the criterion asks for, by the files and the vectors
/// alone.
void expect_pairs(Case const& c, FieldRun const& run) {
  auto const& report = run.report;
  std::string const mass = c.value_of("--mass"), kind = c.value_of("--operator");
  if (c.has("--constraints") || !std::filesystem::exists(run.vectors)) return;
  auto const file = [&](std::string const& name) { return c.folder + "/" + name; };
  if (!std::filesystem::exists(file(c.json["args"][0]))) return;  // of a generator, or a pipe
  auto A = read_reference(file(c.json["args"][0]));
  if (kind == "laplacian") A = laplacian_of(A);
  if (kind == "adjacency") A = adjacency_of(A);
  ReferenceMatrix const M = mass.empty() ? ReferenceMatrix() : read_reference(file(mass));
  if (!in_range(A) || (!mass.empty() && !in_range(M))) return;
  double const tolerance = report["options"]["tolerance"], norm_m = mass.empty() ? 1 : M.norm1();
  bool const relative = c.value_of("--criterion") == "relative";
  auto const X = read_vectors(run.vectors);
  auto const values = numbers(report["eigenvalues"]);
  for (std::size_t j = 0; j < X.size(); ++j) {
    if (report["status"][j] != "converged") continue;
    Vector const MX = mass.empty() ? X[j] : M.times(X[j]);
    double const r = norm(residual(A, X[j], values[j], MX)), size = std::abs(values[j]);
    double const scale = relative ? size * norm(MX) : (A.norm1() + size * norm_m) * norm(X[j]);
    EXPECT_LE(r, 1.5 * tolerance * scale) << "pair " << j + 1;
  }
}

/// What is said beside the values: intervals that hold eigenvalues known exactly, zeros within
/// their own bounds.
void expect_claims(Case const& c, FieldRun const& run) {
  auto const& expected = c.expected();
  auto const& report = run.report;
  if (report.contains("eigenvalues")) {
    auto const found = numbers(report["eigenvalues"]), bounds = numbers(report["error_bounds"]);
    auto const is = [&](std::size_t i, char const* status) {
      return report["status"][i] == status;
    };
    if (expected.contains("exact") && report["certificate"].is_object()) {
      auto const exact = numbers(expected["exact"]),
                 radius = numbers(report["certificate"]["gap_radius"]);
      for (std::size_t i = 0; i < std::min(exact.size(), radius.size()); ++i)
        if (is(i, "converged") || is(i, "zero_eigenvalue")) {
          EXPECT_FALSE(std::abs(found[i] - exact[i]) > radius[i])
              << "pair " << i + 1 << ": " << found[i] << " within " << radius[i];
        }
    }
    for (std::size_t i = 0; expected.value("zero_bound", false) && i < found.size(); ++i)
      if (is(i, "zero_eigenvalue")) {
        EXPECT_LE(std::abs(found[i]), 2 * bounds[i]) << "pair " << i + 1 << " is called zero";
      }
  }
  std::string const text = lowered(run.text());
  for (std::string const words : expected.value("not_words", Json::array()))
    EXPECT_EQ(text.find(lowered(words)), text.npos) << words << " in: " << text;
  if (expected.contains("seconds")) {
    EXPECT_LE(run.seconds, expected["seconds"].get<double>());
  }
}

/// The solution is the one expected: of every row the real and, if complex, the imaginary part.
void expect_solution(Case const& c, std::string const& solution) {
  auto const X = read_vectors(solution);
  Json const& rows = c.expected()["values"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double const imaginary = rows[i].size() > 1 ? rows[i][1].get<double>() : 0;
    EXPECT_NEAR(X[0][i].real(), rows[i][0].get<double>(), 1e-7) << "row " << i + 1;
    EXPECT_NEAR(X[0][i].imag(), imaginary, 1e-7) << "row " << i + 1;
  }
}

/// Every column claimed has its residual, by the file and the solution alone.
void expect_residuals(Case const& c, FieldRun const& run) {
  auto const A = read_reference(c.folder + "/" + std::string(c.json["args"][0]));
  auto const B = read_vectors(c.folder + "/" + c.value_of("--rhs")), X = read_vectors(run.vectors);
  double const tolerance = run.report["options"]["tolerance"];
  if (!in_range(A)) return;
  for (std::size_t j = 0; j < B.size(); ++j) {
    if (run.report["columns"][j]["status"] != "converged") continue;
    double biggest = 0;
    for (Complex const& b : B[j]) biggest = std::max(biggest, std::abs(b));
    Vector const AX = A.times(X[j]);
    Vector r, b;
    for (std::size_t i = 0; i < AX.size(); ++i)
      r.push_back((B[j][i] - AX[i]) / biggest), b.push_back(B[j][i] / biggest);
    EXPECT_LE(norm(r), (1.02 * tolerance + 1e-13) * norm(b)) << "column " << j + 1;
  }
}

void expect_exit(Case const& c, FieldRun const& run) {
  std::string const kind = c.kind();
  int const status = run.outcome.status;
  std::string const text = run.text();
  EXPECT_TRUE(status >= 0 && status <= 2) << status << text;
  if (kind == "refusal") {
    Json const& exit = c.expected()["exit"];
    bool const right = exit.is_array() ? std::find(exit.begin(), exit.end(), status) != exit.end()
                                       : exit == status;
    EXPECT_TRUE(right) << status << text;
    EXPECT_TRUE(holds_words(c, run)) << text;
  } else if (kind == "eigenvalues" || kind == "solution" || kind == "solution_by_residual" ||
             kind == "reads" || kind == "exit0") {
    EXPECT_EQ(status, 0) << text;
  } else if (kind == "no_claim") {
    EXPECT_NE(status, 0);
  } else if (kind == "refusal_or_right" && status != 0) {
    EXPECT_TRUE(holds_words(c, run)) << text;
  } else if (kind == "solution_or_refusal" && status == 1 && c.expected().value("strict", false)) {
    EXPECT_TRUE(holds_words(c, run)) << text;
  } else if (kind == "column_1_solved") {
    EXPECT_EQ(run.report["columns"][0]["status"], "converged") << text;
  }
}

std::vector<Case> all_cases() {
  auto cases = field_cases("cases.json");
  for (auto& open : field_cases("cases_open.json")) cases.push_back(std::move(open));
  return cases;
}

class Field : public ::testing::TestWithParam<Case> {};

TEST_P(Field, IsRight) {
  Case const& c = GetParam();
  TemporaryFolder const folder;
  auto const run = run_field_case(c, folder);
  if (lacks_component(c, run.outcome)) GTEST_SKIP() << run.outcome.err;
  expect_exit(c, run);
  if (run.report.is_null()) return;
  expect_claims(c, run);
  if (c.is("blockspan-eig") && c.expected().contains("values")) expect_values(c, run);
  if (c.is("blockspan-eig") && c.kind() != "values_or_warning") expect_pairs(c, run);
  bool const solves = c.is("blockspan-solve");
  if (solves && c.expected().contains("values") && run.outcome.status == 0)
    expect_solution(c, run.vectors);
  else if (solves && !c.value_of("--rhs").empty())
    expect_residuals(c, run);
  if (c.kind() == "reads") {
    EXPECT_EQ(run.report["right"], true);
    for (auto const& [key, field] : {std::pair("rows", "rows"), {"nnz", "nonzeros"}})
      if (!c.expected()[key].is_null()) {
        EXPECT_EQ(run.report["problem"][field], c.expected()[key]);
      }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Field);
INSTANTIATE_TEST_SUITE_P(Practice, Field, ::testing::ValuesIn(all_cases()), field_test_name);

TEST(FieldFolder, HasCases) {
  if (all_cases().empty()) GTEST_SKIP() << "BLOCKSPAN_FIELD_DIR names no folder with cases.json";
}

}  // namespace
}  // namespace blockspan::test
