// Small cases of claims that were wrong (claims/cases.json in the folder BLOCKSPAN_FIELD_DIR):
// values to four digits whatever their size, intervals that hold the exact value, true statuses and
// words.
#include <algorithm>
#include <cmath>
#include <string>

#include "apps/eig.hpp"
#include "apps/field.hpp"
#include "apps/reference.hpp"

namespace blockspan::test {
namespace {

bool contains(Json const& list, Json const& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void expect_eigenvalues(FieldCase const& c, FieldRun const& run) {
  auto const right = numbers(c.expected()["values"]), found = numbers(run.report["eigenvalues"]),
             bounds = numbers(run.report["error_bounds"]);
  double largest = 0;
  for (double const value : right) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < std::min(found.size(), right.size()); ++i) {
    std::string const status = run.report["status"][i];
    if (status == "converged") {
      EXPECT_LE(std::abs(found[i] - right[i]), 1e-4 * std::abs(right[i])) << "pair " << i + 1;
    }
    bool const zero = status.find("zero") != status.npos || status.find("null") != status.npos;
    if (zero && right[i] != 0) {
      EXPECT_TRUE(std::abs(found[i]) <= 1e-12 * largest || std::abs(found[i]) <= bounds[i])
          << "pair " << i + 1 << ": " << found[i] << " is called " << status;
    }
  }
  if (!c.has("--mass")) {
    EXPECT_EQ(run.text().find("mass matrix"), std::string::npos) << run.text();
  }
  if (c.kind() == "eigenvalues") {
    EXPECT_EQ(run.outcome.status, 0) << run.text();
    EXPECT_GE(found.size(), right.size());
  }
}

/// Every interval holds the exact value of that number, short of half a unit of its last place.
void expect_intervals(FieldCase const& c, Json const& report) {
  auto const right = numbers(c.expected()["values"]), found = numbers(report["eigenvalues"]);
  auto const radius = numbers(report["certificate"]["radius"]),
             gap_radius = numbers(report["certificate"]["gap_radius"]);
  for (std::size_t i = 0; i < right.size(); ++i) {
    double const size = std::abs(right[i]), ulp = std::nextafter(size, HUGE_VAL) - size;
    EXPECT_LE(std::abs(found[i] - right[i]), std::fmin(radius[i], gap_radius[i]) + ulp / 2)
        << "pair " << i + 1;
  }
}

class FieldClaims : public ::testing::TestWithParam<FieldCase> {};

TEST_P(FieldClaims, AreTrue) {
  FieldCase const& c = GetParam();
  TemporaryFolder const folder;
  auto const run = run_field_case(c, folder);
  if (lacks_component(c, run.outcome)) GTEST_SKIP() << run.outcome.err;
  std::string const kind = c.kind();
  if (run.outcome.status == 2 && kind.ends_with("refusal")) return;
  ASSERT_TRUE(run.report.is_object()) << run.outcome.status << run.text();
  for (std::string const words : c.expected().value("no_words", Json::array()))
    EXPECT_EQ(run.text().find(words), std::string::npos) << words << " in: " << run.text();
  if (kind.starts_with("eigenvalues")) {
    expect_eigenvalues(c, run);
  } else if (kind == "certificate") {
    expect_intervals(c, run.report);
  } else if (kind.starts_with("solution")) {
    EXPECT_EQ(run.report["converged"], true) << run.text();
    auto const x = read_vectors(run.vectors)[0];
    auto const right = numbers(c.expected()["x"]);
    ASSERT_EQ(x.size(), right.size());
    for (std::size_t i = 0; i < right.size(); ++i)
      EXPECT_LE(std::abs(x[i] - right[i]), 1e-8 + 1e-4 * std::abs(right[i])) << "row " << i + 1;
  } else {
    Json const &status = run.report["columns"][0]["status"], &right = c.expected()["status"];
    EXPECT_TRUE(right.is_array() ? contains(right, status) : right == status) << status;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FieldClaims);
INSTANTIATE_TEST_SUITE_P(Practice, FieldClaims,
                         ::testing::ValuesIn(field_cases("claims/cases.json")), field_test_name);

}  // namespace
}  // namespace blockspan::test
