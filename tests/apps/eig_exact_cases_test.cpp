// Problems with right answers, from files: the list exact_cases.json in the folder
// BLOCKSPAN_FIELD_DIR, matrices there and in BLOCKSPAN_MATRIX_DIR. Intervals, counts and the pairs
// nearest a shift, values within max(1e-9, 20 attainable).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/eig.hpp"
#include "common/machine/components.hpp"

namespace blockspan::test {
namespace {

namespace fs = std::filesystem;

std::string folder_of(char const* variable) {
  char const* const folder = std::getenv(variable);
  return folder == nullptr ? "" : folder;
}

std::vector<Json> cases() {
  std::ifstream file(fs::path(folder_of("BLOCKSPAN_FIELD_DIR")) / "exact_cases.json");
  std::vector<Json> list;
  if (!file) return list;
  Json const all = Json::parse(file);
  for (Json const& json : all["cases"]) list.push_back(json);
  return list;
}

/// The matrix and the mass of a case; empty where it is made and not read.
std::vector<std::string> sources(std::string const& name) {
  fs::path const field = folder_of("BLOCKSPAN_FIELD_DIR"),
                 matrices = folder_of("BLOCKSPAN_MATRIX_DIR");
  std::vector<fs::path> paths;
  if (name.rfind("field ", 0) == 0) {
    std::string const stem = name.substr(6);
    for (char const* const end : {".mtx", "_K.mtx", "_M.mtx", "_M0.mtx", "_Kg.mtx"})
      if (fs::exists(field / (stem + end)) && paths.size() < 2)
        paths.push_back(field / (stem + end));
  } else {
    std::istringstream words(name);
    for (std::string word; std::getline(words, word, '/');)
      paths.push_back(matrices / (word + ".mtx.gz"));
  }
  std::vector<std::string> result;
  for (auto const& path : paths)
    if (fs::exists(path)) result.push_back(path.string());
  return result.size() == paths.size() ? result : std::vector<std::string>();
}

std::string written(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

/// Runs the case with these arguments behind its matrices.
Json run_case(Json const& json, std::vector<std::string> const& more) {
  auto const files = sources(json["name"]);
  std::vector<std::string> arguments{files[0]};
  if (files.size() > 1) arguments.insert(arguments.end(), {"--mass", files[1]});
  if (json["mass"].get<std::string>().rfind("indefinite", 0) == 0)
    arguments.push_back("--buckling");
  arguments.insert(arguments.end(), more.begin(), more.end());
  auto const run = run_eig(arguments);
  EXPECT_EQ(run.outcome.status, 0) << json["name"] << run.outcome.out << run.outcome.err;
  return run.report;
}

double tolerance(Json const& json) {
  double const attainable = json["attainable"].is_null() ? 0 : json["attainable"].get<double>();
  return std::max(1e-9, 20 * attainable);
}

void check_interval(Json const& json) {
  auto const& interval = json["interval"];
  auto const ends = written(interval["a"]) + "," + written(interval["b"]);
  std::int64_t const number = interval["count"];
  EXPECT_EQ(run_case(json, {"--count=" + ends})["exact"]["number"], number) << json["name"];
  auto const all = run_case(json, {"--interval=" + ends});
  EXPECT_EQ(all["exact"]["proof"], "proved") << json["name"];
  auto const values = numbers(all["eigenvalues"]);
  ASSERT_EQ(static_cast<std::int64_t>(values.size()), number) << json["name"];
  if (!interval.contains("first")) return;
  for (auto const& [value, truth] : {std::pair<double, double>(values.front(), interval["first"]),
                                     {values.back(), interval["last"]}})
    EXPECT_LE(std::abs(value - truth), tolerance(json) * std::abs(truth)) << json["name"];
}

void check_nearest(Json const& json) {
  auto const truth = numbers(json["near"]["values"]);
  auto const near = run_case(
      json, {"--near=" + written(json["near"]["sigma"]), "--pairs", std::to_string(truth.size())});
  EXPECT_EQ(near["exact"]["proof"], "proved") << json["name"];
  auto const values = numbers(near["eigenvalues"]);
  ASSERT_EQ(values.size(), truth.size()) << json["name"];
  for (std::size_t j = 0; j < truth.size(); ++j)
    EXPECT_LE(std::abs(values[j] - truth[j]), tolerance(json) * std::abs(truth[j]))
        << json["name"] << " " << j;
}

TEST(EigExactCases, AreAnsweredRightly) {
  if (!apps::has_direct) GTEST_SKIP() << apps::left_out("direct");
  int read = 0;
  for (Json const& json : cases()) {
    auto const files = sources(json["name"]);
    if (files.empty()) continue;
    // Hermitian ones need another scalar than every build has
    if (read_text(files[0]).find("hermitian") < 100 || json["name"] == "mhd1280b") continue;
    ++read;
    check_interval(json);
    // of buckling loads the list has the nearest in lambda, and not in 1 / lambda
    bool const buckling = json["mass"].get<std::string>().rfind("indefinite", 0) == 0;
    if (json.contains("near") && !buckling) check_nearest(json);
  }
  if (read == 0) GTEST_SKIP() << "BLOCKSPAN_FIELD_DIR names no folder with exact_cases.json";
}

}  // namespace
}  // namespace blockspan::test
