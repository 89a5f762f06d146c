#include <algorithm>
#include <fstream>

#include <blockspan/support/error.hpp>

#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

/// f64 and c128 only: every build has those.
std::vector<Case> quick_cases() {
  std::vector<Case> cases;
  auto const add = [&](std::string const& spec, std::string const& scalar, int columns) {
    cases.push_back({.group = "quick", .spec = spec, .scalar = scalar, .columns = columns});
  };
  for (int const columns : {1, 8}) add("laplace7:12", "f64", columns);
  add("rmat:8:8", "f64", 4);
  add("wide:32x3000:300", "f64", 1);
  add("hypersparse:2000x2000:0.3", "c128", 3);
  add("elasticity:6", "f64", 16);
  return cases;
}

/// One entry of a group, which means a case of each of its widths.
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

std::vector<Case> read_cases(Scope const& scope) {
  std::ifstream file(scope.cases);
  require(file.good(), "--cases " + scope.cases, "cannot be read");
  std::vector<Case> cases;
  std::vector<std::string> known;
  try {
    Json const document = Json::parse(file);
    for (Json const& group : document.at("groups")) {
      known.push_back(group.at("name").get<std::string>());
      bool const wanted = scope.groups.empty() ||
                          std::count(scope.groups.begin(), scope.groups.end(), known.back());
      if (!wanted) continue;
      for (Json const& entry : group.at("cases")) expand(known.back(), entry, cases);
    }
  } catch (Json::exception const& error) {
    fail("--cases " + scope.cases, error.what());
  }
  for (std::string const& group : scope.groups)
    require(std::count(known.begin(), known.end(), group) > 0, "--group " + group, "is not in ",
            scope.cases);
  return cases;
}

}  // namespace

Study cases(Scope const& scope) {
  Study study;
  study.name = "cases";
  study.title = "Products of a sparse matrix with a block of vectors";
  study.reproduces =
      "The cases of cases.json, in groups: a laboratory of raw CUDA kernels on an H200, widths, "
      "complex scalars, rows that are several percent full, real matrices; the whole menu against "
      "every peer.";
  study.cases = scope.quick && scope.groups.empty() ? quick_cases() : read_cases(scope);
  return study;
}

Study given(std::vector<std::string> const& specs) {
  Study study;
  study.name = "given";
  study.title = "Specs of the command line";
  study.reproduces = "What was asked for.";
  study.table = usual_table();
  for (std::string const& spec : specs)
    for (int const columns : {1, 4, 8, 16, 32, 64})
      study.cases.push_back({.group = "given", .spec = spec, .columns = columns});
  return study;
}

}  // namespace blockspan::perf
