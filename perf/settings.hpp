#pragma once

#include <string>
#include <vector>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::perf {

/// What the performance programs read from their command line.
struct Settings {
  bool quick = false;  ///< small matrices, few runs: to see that the program works
  std::string out;     ///< JSON file; empty: none
  std::vector<std::string> specs;
};

/// Throws Error for an argument it does not know.
inline Settings parse_settings(std::string const& program, int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument == "--quick")
      settings.quick = true;
    else if (argument == "--out" && i + 1 < argc)
      settings.out = argv[++i];
    else if (is_generator_spec(argument))
      settings.specs.push_back(argument);
    else
      fail(program, "what is '", argument, "'? usage: ", program,
           " [--quick] [--out FILE.json] [SPEC ...]");
  }
  if (settings.specs.empty()) {
    settings.specs = settings.quick ? std::vector<std::string>{"laplace7:40", "elasticity:12"}
                                    : std::vector<std::string>{"laplace7:128", "laplace27:96",
                                                               "elasticity:44", "rmat:20:16"};
  }
  return settings;
}

}  // namespace blockspan::perf
