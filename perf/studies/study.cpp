#include "studies/study.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include <blockspan/support/error.hpp>

namespace blockspan::perf {

namespace {

char const* to_string(Task task) {
  switch (task) {
    case Task::product:
      return "product";
    case Task::eigenpairs:
      return "eigenpairs";
    case Task::linear_systems:
      return "linear_systems";
    case Task::hierarchy:
      return "hierarchy";
    case Task::profile:
      return "profile";
  }
  return "unknown";
}

Json to_json(std::vector<Column> const& columns) {
  Json list = Json::array();
  for (Column const& column : columns) list.push_back({column.head, column.value});
  return list;
}

}  // namespace

bool Case::wants(std::string const& id, std::string const& family) const {
  if (contenders.empty()) return family != "form";
  return std::any_of(contenders.begin(), contenders.end(), [&](std::string const& wanted) {
    return wanted == id || wanted == family || id.rfind(wanted + "/", 0) == 0;
  });
}

std::string spec_of(char const* generator, std::int64_t m, std::int64_t k, double number) {
  std::ostringstream text;
  text << std::setprecision(12) << generator << ':' << m << 'x' << k << ':' << number;
  return text.str();
}

Json identity(Case const& one) {
  Json json{{"group", one.group},
            {"matrix", one.name()},
            {"scalar", one.scalar},
            {"columns", one.columns}};
  if (one.task != Task::product) json["task"] = to_string(one.task);
  if (one.task == Task::eigenpairs || one.task == Task::linear_systems)
    json["tolerance"] = one.tolerance;
  if (!one.mass.empty()) json["mass"] = one.mass;
  if (one.alpha != 1 || one.beta != 0) {
    json["alpha"] = one.alpha;
    json["beta"] = one.beta;
  }
  for (auto const& [key, value] : one.notes.items()) json[key] = value;
  return json;
}

std::string source_of(Case const& one) {
  if (!one.file.empty() && std::filesystem::exists(one.file)) return one.file;
  char const* const folder = std::getenv("BLOCKSPAN_MATRIX_DIR");
  if (!one.file.empty() && folder != nullptr)
    for (char const* const ending : {".mtx.gz", ".mtx"}) {
      auto const path = std::filesystem::path(folder) / (one.file + ending);
      if (std::filesystem::exists(path)) return path.string();
    }
  require(!one.spec.empty(), one.file, "is not in BLOCKSPAN_MATRIX_DIR",
          folder == nullptr ? ", which is not set" : "");
  return one.spec;
}

Json description(Study const& study) {
  Json plots = Json::array(), summaries = Json::array();
  for (Plot const& plot : study.plots)
    plots.push_back({{"name", plot.name},
                     {"title", plot.title},
                     {"x", plot.x},
                     {"y", plot.y},
                     {"curves", to_json(plot.curves)},
                     {"log_x", plot.log_x},
                     {"log_y", plot.log_y}});
  for (Summary const& summary : study.summaries)
    summaries.push_back(
        {{"text", summary.text}, {"value", summary.value}, {"published", summary.published}});
  return {
      {"study", study.name},   {"title", study.title},          {"reproduces", study.reproduces},
      {"note", study.note},    {"table", to_json(study.table)}, {"plots", plots},
      {"summaries", summaries}};
}

}  // namespace blockspan::perf
