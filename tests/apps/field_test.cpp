// Inputs rebuilt from bug reports of people who do this job, with right answers: a folder with a
// list of cases (cases.json), named by BLOCKSPAN_FIELD_DIR. A claim of the programs must be right;
// where an answer is asked for, there must be one; a refusal must say what is wrong.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "apps/eig.hpp"
#include "apps/reference.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

struct Case {
  Json json;
  std::string folder;

  std::string name() const { return json["name"]; }
  std::string kind() const { return json["expected"]["kind"]; }
  bool is(std::string const& program) const { return json["program"] == program; }
  /// The word after an option; empty: it is not given.
  std::string value_of(std::string const& option) const {
    auto const& words = json["args"];
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == option) return words[i + 1];
    return "";
  }
  /// The arguments, with the folder in front of its files.
  std::vector<std::string> arguments() const {
    std::vector<std::string> result;
    for (Json const& word : json["args"]) {
      auto const& files = json["files"];
      bool const file = std::find(files.begin(), files.end(), word) != files.end();
      result.push_back(file ? folder + "/" + std::string(word) : std::string(word));
    }
    return result;
  }
};

std::vector<Case> cases_of(std::string const& program) {
  char const* const folder = std::getenv("BLOCKSPAN_FIELD_DIR");
  if (folder == nullptr) return {};
  std::ifstream file(std::string(folder) + "/cases.json");
  if (!file) return {};
  std::vector<Case> cases;
  for (Json const& json : Json::parse(file))
    if (json["program"] == program && !json["expected"].contains("stdin"))
      cases.push_back({json, folder});
  return cases;
}

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void expect_words(Case const& c, Outcome const& outcome) {
  std::string const text = lowered(outcome.out + outcome.err);
  for (std::string const word : c.json["expected"]["words"])
    EXPECT_NE(text.find(lowered(word)), std::string::npos) << word << " is not in: " << text;
}

/// Every value claimed is right, as far as the criterion promises.
void expect_values(Case const& c, Json const& report) {
  auto const& expected = c.json["expected"];
  auto const exact = numbers(expected["values"]), found = numbers(report["eigenvalues"]);
  bool const digits = c.value_of("--criterion").empty();
  double const a = report["norms"]["A"], m = report["norms"]["M"];
  for (std::size_t j = 0; j < std::min(exact.size(), found.size()); ++j) {
    if (report["status"][j] != "converged") continue;
    double const size = std::abs(exact[j]), scale = a + size * m;
    double allowed = size > 1e-15 * scale ? (digits ? 2e-4 : 1e-3) * size : 1e-7 * scale;
    if (expected.contains("rtol"))
      allowed = std::max(allowed, expected["rtol"].get<double>() * size);
    EXPECT_LE(std::abs(found[j] - exact[j]), allowed) << "pair " << j + 1 << ": " << found[j];
  }
}

/// The solution is the one expected: of every row the real and, if complex, the imaginary part.
void expect_solution(Case const& c, std::string const& solution) {
  auto const X = read_vectors(solution);
  Json const& rows = c.json["expected"]["values"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double const imaginary = rows[i].size() > 1 ? rows[i][1].get<double>() : 0;
    EXPECT_NEAR(X[0][i].real(), rows[i][0].get<double>(), 1e-7) << "row " << i + 1;
    EXPECT_NEAR(X[0][i].imag(), imaginary, 1e-7) << "row " << i + 1;
  }
}

/// Every column claimed has its residual, by the file and the solution alone.
void expect_residuals(Case const& c, Json const& report, std::string const& solution) {
  auto const A = read_reference(c.folder + "/" + std::string(c.json["args"][0]));
  auto const B = read_vectors(c.folder + "/" + c.value_of("--rhs")), X = read_vectors(solution);
  double const tolerance = report["options"]["tolerance"];
  double largest = 0;
  for (auto const& e : A.entries) largest = std::max(largest, std::abs(e.value));
  if (!(largest < 1e100 && largest > 1e-100)) return;  // beyond what norms of doubles can judge
  for (std::size_t j = 0; j < B.size(); ++j) {
    if (report["columns"][j]["status"] != "converged") continue;
    double biggest = 0;
    for (Complex const& b : B[j]) biggest = std::max(biggest, std::abs(b));
    Vector const AX = A.times(X[j]);
    Vector r, b;
    for (std::size_t i = 0; i < AX.size(); ++i)
      r.push_back((B[j][i] - AX[i]) / biggest), b.push_back(B[j][i] / biggest);
    EXPECT_LE(norm(r), (1.02 * tolerance + 1e-13) * norm(b)) << "column " << j + 1;
  }
}

void expect_exit(Case const& c, Outcome const& outcome) {
  std::string const kind = c.kind();
  int const status = outcome.status;
  EXPECT_TRUE(status >= 0 && status <= 2) << status << outcome.err;
  if (kind == "refusal") {
    Json const& exit = c.json["expected"]["exit"];
    bool const right = exit.is_array() ? std::find(exit.begin(), exit.end(), status) != exit.end()
                                       : exit == status;
    EXPECT_TRUE(right) << status << outcome.err;
    expect_words(c, outcome);
  } else if (kind == "eigenvalues" || kind == "solution" || kind == "solution_by_residual" ||
             kind == "reads") {
    EXPECT_EQ(status, 0) << outcome.out << outcome.err;
  } else if (kind == "no_claim") {
    EXPECT_NE(status, 0);
  } else if (kind == "refusal_or_right" && status != 0) {
    expect_words(c, outcome);
  }
}

/// Kokkos Kernels' preconditioners and complex scalars are in no build of every kind.
bool is_left_out(Case const& c, Outcome const& outcome) {
  std::string const kind = c.value_of("--preconditioner");
  if (!has_scalar<Kokkos::complex<double>> && outcome.status == 2 &&
      outcome.err.find("is complex, and this build has") != std::string::npos)
    return true;
  return (kind == "ilu0" || kind == "gauss-seidel") &&
         lowered(outcome.err).find("build") != std::string::npos;
}

class Field : public ::testing::TestWithParam<std::string> {};

TEST_P(Field, CasesFromPracticeAreRight) {
  auto const cases = cases_of(GetParam());
  if (cases.empty()) GTEST_SKIP() << "BLOCKSPAN_FIELD_DIR names no folder with cases.json";
  for (Case const& c : cases) {
    SCOPED_TRACE(c.name());
    TemporaryFolder const folder;
    auto arguments = c.arguments();
    std::string const vectors = folder / "vectors.mtx";
    bool const solves = c.is("blockspan-solve");
    if (!c.is("blockspan-spmm"))
      arguments.insert(arguments.end(), {solves ? "--solution" : "--vectors", vectors});
    auto const run = run_with_report(c.json["program"], arguments);
    if (is_left_out(c, run.outcome)) continue;
    expect_exit(c, run.outcome);
    if (run.report.is_null()) continue;
    if (c.is("blockspan-eig") && c.json["expected"].contains("values"))
      expect_values(c, run.report);
    if (solves && c.json["expected"].contains("values"))
      expect_solution(c, vectors);
    else if (solves && !c.value_of("--rhs").empty())
      expect_residuals(c, run.report, vectors);
    if (c.kind() == "reads") {
      EXPECT_EQ(run.report["right"], true);
      for (auto const& [key, field] : {std::pair("rows", "rows"), {"nnz", "nonzeros"}})
        if (!c.json["expected"][key].is_null()) {
          EXPECT_EQ(run.report["problem"][field], c.json["expected"][key]);
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Field,
                         ::testing::Values("blockspan-eig", "blockspan-solve", "blockspan-spmm"),
                         [](::testing::TestParamInfo<std::string> const& tested) {
                           return tested.param.substr(sizeof "blockspan-" - 1);
                         });

}  // namespace
}  // namespace blockspan::test
