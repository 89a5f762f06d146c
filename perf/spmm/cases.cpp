#include "spmm/cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <blockspan/support/error.hpp>

namespace blockspan::perf {

namespace {

/// f64 and c128 only: every build has those.
std::vector<Case> quick_cases() {
  std::vector<Case> cases;
  auto const add = [&](std::string const& spec, std::string const& scalar, int columns) {
    cases.push_back({"quick", spec, "", scalar, columns});
  };
  for (int const columns : {1, 8}) add("laplace7:12", "f64", columns);
  add("rmat:8:8", "f64", 4);
  add("wide:32x3000:300", "f64", 1);
  add("hypersparse:2000x2000:0.3", "c128", 3);
  add("elasticity:6", "f64", 16);
  return cases;
}

/// One entry of a group, which stands for a case of each of its widths.
void expand(std::string const& group, Json const& entry, std::vector<Case>& cases) {
  Case one;
  one.group = group;
  one.scalar = entry.at("scalar").get<std::string>();
  for (auto const& [key, value] : entry.items()) {
    if (key == "matrix")
      one.spec = value.get<std::string>();
    else if (key == "file")
      one.file = value.get<std::string>();
    else if (key != "scalar" && key != "columns")
      one.notes[key] = value;
  }
  require(!one.spec.empty() || !one.file.empty(), "group " + group,
          "an entry has neither a matrix nor a file: ", entry.dump());
  for (Json const& columns : entry.at("columns")) {
    one.columns = columns.get<int>();
    require(one.columns >= 1, "group " + group, "columns is ", one.columns, " in ", entry.dump());
    cases.push_back(one);
  }
}

std::vector<Case> read_cases(SpmmSettings const& settings) {
  std::ifstream file(settings.cases);
  require(file.good(), "--cases " + settings.cases, "cannot be read");
  std::vector<Case> cases;
  std::vector<std::string> known;
  try {
    Json const document = Json::parse(file);
    for (Json const& group : document.at("groups")) {
      known.push_back(group.at("name").get<std::string>());
      bool const wanted = settings.groups.empty() ||
                          std::count(settings.groups.begin(), settings.groups.end(), known.back());
      if (!wanted) continue;
      for (Json const& entry : group.at("cases")) expand(known.back(), entry, cases);
    }
  } catch (Json::exception const& error) {
    fail("--cases " + settings.cases, error.what());
  }
  for (std::string const& group : settings.groups)
    require(std::count(known.begin(), known.end(), group) > 0, "--group " + group, "is not in ",
            settings.cases);
  return cases;
}

}  // namespace

std::vector<Case> choose_cases(SpmmSettings const& settings) {
  bool const small = settings.quick && settings.groups.empty();
  if (settings.specs.empty()) return small ? quick_cases() : read_cases(settings);
  std::vector<Case> cases;
  for (std::string const& spec : settings.specs)
    for (int const columns : {1, 4, 8, 16, 32, 64})
      cases.push_back({"given", spec, "", "f64", columns});
  return cases;
}

std::string source_of(Case const& one) {
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

}  // namespace blockspan::perf
