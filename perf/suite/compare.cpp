#include "suite/compare.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include <blockspan/support/error.hpp>

#include "common/files/words.hpp"
#include "suite/results_file.hpp"

namespace blockspan::perf {

namespace {

namespace fs = std::filesystem;

constexpr double tolerated = 1.05;  ///< growth of a median that is always noise

using Files = std::pair<std::string, std::string>;

/// The pairs of files to compare.
std::vector<Files> pairs_of(std::string const& old_path, std::string const& new_path) {
  if (!fs::is_directory(old_path) || !fs::is_directory(new_path)) return {{old_path, new_path}};
  std::vector<Files> pairs;
  for (auto const& entry : fs::directory_iterator(old_path)) {
    fs::path const other = fs::path(new_path) / entry.path().filename();
    if (entry.path().extension() == ".json" && fs::exists(other))
      pairs.emplace_back(entry.path().string(), other.string());
  }
  std::sort(pairs.begin(), pairs.end());
  require(!pairs.empty(), "compare", old_path, " and ", new_path, " have no .json of equal name");
  return pairs;
}

/// What tells the case from others, whatever else a record says of it.
std::string key_of(Json const& entry) {
  std::string key;
  for (char const* const member : {"group", "matrix", "scalar", "columns", "task", "method",
                                   "tolerance", "alpha", "beta", "density", "fill", "aspect"})
    if (entry.contains(member)) key += entry[member].dump() + " ";
  return key;
}

std::string name_of(Json const& entry, Json const& kernel) {
  std::string const method = entry.value("method", std::string());
  return entry["group"].get<std::string>() + " " + entry["matrix"].get<std::string>() + " " +
         entry["scalar"].get<std::string>() + " n = " + entry["columns"].dump() + " " +
         (method.empty() ? "" : method + ", ") + kernel["id"].get<std::string>();
}

double noise(Json const& ms) {
  if (ms.contains("spread")) return ms["spread"].get<double>();
  return (ms["max"].get<double>() - ms["min"].get<double>()) / 2;
}

/// The line of a kernel that became worse.
std::optional<std::string> worse(Json const& before, Json const* after) {
  if (!before.contains("ms")) return std::nullopt;
  if (after == nullptr) return "is gone";
  if (after->contains("refused")) return "is refused: " + (*after)["refused"].get<std::string>();
  if (!after->contains("ms"))
    return after->contains("unconverged") ? "no longer converges" : "is WRONG";
  Json const &was = before["ms"], &is = (*after)["ms"];
  double const old_ms = was["median"].get<double>(), new_ms = is["median"].get<double>();
  if (new_ms <= tolerated * old_ms || new_ms - old_ms <= noise(was) + noise(is))
    return std::nullopt;
  return apps::formatted("%.4f", old_ms) + apps::formatted(" -> %.4f ms", new_ms) +
         apps::formatted(", %.2f times", new_ms / old_ms);
}

Json const* find_kernel(Json const& entry, Json const& id) {
  if (!entry.contains("kernels")) return nullptr;
  for (Json const& kernel : entry["kernels"])
    if (kernel["id"] == id) return &kernel;
  return nullptr;
}

Json const* find_case(Json const& document, std::string const& key) {
  for (Json const& entry : document["cases"])
    if (key_of(entry) == key) return &entry;
  return nullptr;
}

void compare_cases(Json const& before, Json const& after, std::vector<std::string>& lines) {
  for (Json const& entry : before["cases"]) {
    Json const* const now = find_case(after, key_of(entry));
    if (now == nullptr || !entry.contains("kernels")) continue;
    for (Json const& kernel : entry["kernels"])
      if (auto const line = worse(kernel, find_kernel(*now, kernel["id"])))
        lines.push_back(name_of(entry, kernel) + ": " + *line);
  }
}

/// Cases in both.
int common_cases(Json const& before, Json const& after) {
  int count = 0;
  for (Json const& entry : before["cases"])
    count += find_case(after, key_of(entry)) != nullptr ? 1 : 0;
  return count;
}

}  // namespace

std::vector<std::string> what_became_worse(std::string const& old_path,
                                           std::string const& new_path) {
  std::vector<std::string> lines;
  int common = 0;
  for (auto const& [old_file, new_file] : pairs_of(old_path, new_path)) {
    Json const before = read_results(old_file), after = read_results(new_file);
    common += common_cases(before, after);
    compare_cases(before, after, lines);
  }
  require(common > 0, "compare", old_path, " and ", new_path, " have no case in common");
  return lines;
}

bool compare(std::string const& old_path, std::string const& new_path) {
  for (auto const& [old_file, new_file] : pairs_of(old_path, new_path)) {
    Json const before = read_results(old_file), after = read_results(new_file);
    if (before.value("quick", false) || after.value("quick", false))
      std::printf("note: %s: times of quick runs mean little\n", new_file.c_str());
    for (char const* const key : {"backend", "device", "versions", "quick", "flush"})
      if (before.contains(key) && after.contains(key) && before[key] != after[key])
        std::printf("note: %s: %s differs: %s, now %s\n", new_file.c_str(), key,
                    before[key].dump().c_str(), after[key].dump().c_str());
    std::printf("%s: %d of %zu cases are in %s too\n", old_file.c_str(),
                common_cases(before, after), before["cases"].size(), new_file.c_str());
  }
  auto const lines = what_became_worse(old_path, new_path);
  for (std::string const& line : lines) std::printf("worse: %s\n", line.c_str());
  std::printf(
      lines.empty() ? "Nothing became slower by more than the noise.\n" : "%zu became worse.\n",
      lines.size());
  return lines.empty();
}

}  // namespace blockspan::perf
