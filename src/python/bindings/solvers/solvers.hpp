#pragma once

#include <string>
#include <vector>

#include <blockspan/solvers/status.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

// Binds the solvers.

namespace blockspan::python {

inline std::string in_words(Status status) { return std::string(to_string(status)); }
inline std::vector<std::string> in_words(std::vector<Status> const& all) {
  std::vector<std::string> words;
  for (Status const status : all) words.push_back(in_words(status));
  return words;
}

void bind_lobpcg(nanobind::module_& m);
void bind_exact(nanobind::module_& m);  // hosts
void bind_cg(nanobind::module_& m);

}  // namespace blockspan::python
