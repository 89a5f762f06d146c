#include "spmm/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/files/words.hpp"

namespace blockspan::perf {

namespace {

/// Six significant digits: a time has no more, and the file is read by people too.
double rounded(double value) {
  if (!std::isfinite(value)) return value;
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return std::strtod(text, nullptr);
}

Json to_json(KernelResult const& kernel) {
  Json json{{"id", kernel.id}, {"family", kernel.family}, {"order", to_string(kernel.order)}};
  if (kernel.family == "blockspan") json["whole_rows"] = kernel.whole_rows;
  if (!kernel.refused.empty()) {
    json["refused"] = kernel.refused;
    return json;
  }
  if (!kernel.profile.empty()) {
    json["profile"] = kernel.profile;
    return json;
  }
  if (kernel.family == "blockspan") {
    json["requested"] = kernel.id;
    json["ran"] = kernel.ran;
  }
  json["right"] = kernel.verdict.right;
  if (!kernel.unconverged.empty()) json["unconverged"] = kernel.unconverged;
  if (kernel.solver.empty()) {
    json["error"] = rounded(kernel.verdict.error);
    json["error_bound"] = rounded(kernel.verdict.error_bound);
    if (kernel.verdict.not_a_number > 0) json["not_a_number"] = kernel.verdict.not_a_number;
  } else {
    json["solver"] = kernel.solver;
  }
  json["setup_ms"] = rounded(kernel.setup_ms);
  if (!kernel.times) return json;
  Times const& times = *kernel.times;
  json["ms"] = {{"median", rounded(times.median)},
                {"min", rounded(times.min)},
                {"max", rounded(times.max)},
                {"mean", rounded(times.mean)},
                {"spread", rounded(times.spread)}};
  json["batches"] = times.batches;
  json["products"] = times.products;
  if (times.median > 0) json["setup_products"] = rounded(kernel.setup_ms / times.median);
  return json;
}

void add(Json& json, CaseResult const& result) {
  json["source"] = result.source;
  if (!result.error.empty() || !result.refused.empty()) {
    json[result.error.empty() ? "refused" : "error"] =
        result.error.empty() ? result.refused : result.error;
    return;
  }
  json["rows"] = result.rows;
  json["matrix_columns"] = result.columns;
  json["nonzeros"] = result.nonzeros;
  json["longest"] = result.longest;
  json["mean"] = rounded(result.mean);
  json["empty_rows"] = result.empty_rows;
  json["imbalance"] = rounded(result.imbalance);
  json["floor_bytes"] = result.floor_bytes;
  json["floor_ms"] = rounded(result.floor_ms);
  if (result.gather_bytes > 0) {
    json["gather_bytes"] = result.gather_bytes;
    json["gather_ms"] = rounded(result.gather_ms);
  }
  if (result.checked_rows > 0) json["checked_rows"] = result.checked_rows;
  if (!result.levels.is_null()) json["multigrid"] = result.levels;
  json["kernels"] = Json::array();
  for (KernelResult const& kernel : result.kernels) json["kernels"].push_back(to_json(kernel));
}

std::string time_of(KernelResult const* kernel, std::string const& name) {
  if (kernel == nullptr) return ", no " + name;
  if (!kernel->unconverged.empty()) return ", " + name + " UNCONVERGED";
  if (!kernel->times) return ", " + name + (kernel->wrong() ? " WRONG" : " refused");
  std::string text = ", " + name + apps::formatted(" %.4f ms", kernel->times->median);
  std::string const& who = kernel->id == "auto" ? kernel->ran : kernel->id;
  return text + " (" + who.substr(who.find('/') == std::string::npos ? 0 : who.find('/') + 1) + ")";
}

/// Families in the order of the results, Blockspan's own choice first.
std::string times_of(CaseResult const& result) {
  if (!result.levels.is_null())
    return time_of(result.find("setup"), "multigrid") +
           time_of(result.find("cycle/8"), "cycle of columns");
  KernelResult const* const chosen = result.find("auto");
  std::string text = chosen ? time_of(chosen, "auto") : "";
  std::vector<std::string> seen;
  for (KernelResult const& kernel : result.kernels) {
    if (std::count(seen.begin(), seen.end(), kernel.family) > 0) continue;
    seen.push_back(kernel.family);
    if (KernelResult const* const best = result.best(kernel.family))
      text += time_of(best, kernel.family == "blockspan" ? "best variant" : kernel.family);
  }
  return text;
}

}  // namespace

Json to_json(CaseResult const& result) {
  Json json = Json::object();
  add(json, result);
  return json;
}

std::string in_words(Case const& one, CaseResult const& result) {
  std::string text =
      one.group + " " + one.name() + " " + one.scalar + " n = " + std::to_string(one.columns);
  if (!result.error.empty()) return text + ": FAILED: " + result.error;
  if (!result.refused.empty()) return text + ": refused: " + result.refused;
  text += result.floor_ms > 0 ? apps::formatted(": floor %.4f ms", result.floor_ms) : ":";
  text += times_of(result);
  for (KernelResult const& kernel : result.kernels)
    if (kernel.wrong()) text += ", WRONG: " + kernel.id;
  return text;
}

}  // namespace blockspan::perf
