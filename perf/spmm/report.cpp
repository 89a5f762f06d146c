#include "spmm/report.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "common/output_file.hpp"
#include "common/words.hpp"

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
  if (kernel.family == "blockspan") {
    json["requested"] = kernel.id;
    json["ran"] = kernel.ran;
  }
  json["right"] = kernel.verdict.right;
  json["error"] = rounded(kernel.verdict.error);
  json["error_bound"] = rounded(kernel.verdict.error_bound);
  if (kernel.verdict.not_a_number > 0) json["not_a_number"] = kernel.verdict.not_a_number;
  json["setup_ms"] = rounded(kernel.setup_ms);
  if (!kernel.times) return json;
  apps::Timing const& times = *kernel.times;
  json["ms"] = {{"median", rounded(times.median_ms)},
                {"min", rounded(times.min_ms)},
                {"max", rounded(times.max_ms)}};
  json["batches"] = times.batches;
  json["products"] = times.launches;
  if (times.median_ms > 0) json["setup_products"] = rounded(kernel.setup_ms / times.median_ms);
  return json;
}

void add(Json& json, CaseResult const& result) {
  json["source"] = result.source;
  if (!result.error.empty()) {
    json["error"] = result.error;
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
  json["checked_rows"] = result.checked_rows;
  json["kernels"] = Json::array();
  for (KernelResult const& kernel : result.kernels) json["kernels"].push_back(to_json(kernel));
}

std::string time_of(KernelResult const* kernel, std::string const& name) {
  if (kernel == nullptr) return ", no " + name;
  if (!kernel->times) return ", " + name + (kernel->wrong() ? " WRONG" : " refused");
  std::string text = ", " + name + apps::formatted(" %.4f ms", kernel->times->median_ms);
  std::string const& who = kernel->id == "auto" ? kernel->ran : kernel->id;
  return text + " (" + who.substr(who.find('/') == std::string::npos ? 0 : who.find('/') + 1) + ")";
}

}  // namespace

Json to_json(Case const& one, CaseResult const* result) {
  Json json{{"group", one.group},
            {"matrix", one.name()},
            {"scalar", one.scalar},
            {"columns", one.columns}};
  for (auto const& [key, value] : one.notes.items()) json[key] = value;
  if (result == nullptr)
    json["error"] = "did not run";
  else
    add(json, *result);
  return json;
}

std::string in_words(Case const& one, CaseResult const& result) {
  std::string text =
      one.group + " " + one.name() + " " + one.scalar + " n = " + std::to_string(one.columns);
  if (!result.error.empty()) return text + ": FAILED: " + result.error;
  text += apps::formatted(": floor %.4f ms", result.floor_ms);
  text += time_of(result.find("auto"), "auto") + time_of(result.best("blockspan"), "best variant") +
          time_of(result.best("cusparse"), "cuSPARSE") +
          time_of(result.best("kokkos-kernels"), "Kokkos Kernels");
  for (KernelResult const& kernel : result.kernels)
    if (kernel.wrong()) text += ", WRONG: " + kernel.id;
  return text;
}

void write_results(std::string const& path, Json const& results) {
  apps::OutputFile("--out", path, true).write(apps::to_text(results));
}

}  // namespace blockspan::perf
