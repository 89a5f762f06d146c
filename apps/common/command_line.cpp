#include "common/command_line.hpp"

#include <iostream>
#include <string>
#include <vector>

#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "common/versions.hpp"

namespace blockspan::apps {

CLI::Validator at_least_one() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.empty()) return std::string("a number is missing");
        bool const negative = text.front() == '-';
        auto const digits = text.substr(negative ? 1 : 0);
        bool const is_number = digits.find_first_not_of("0123456789") == std::string::npos;
        bool const is_zero = digits.find_first_not_of('0') == std::string::npos;
        return is_number && (negative || is_zero) ? text + " is less than 1" : std::string();
      },
      "");
}

void set_up(CLI::App& app, std::string const& name, std::string const& summary) {
  Versions const built = versions();
  app.name(name);
  app.description(summary);
  app.set_version_flag("--version", name + " " + built.blockspan + " (Kokkos " + built.kokkos +
                                        ", Kokkos Kernels " + built.kokkos_kernels + ")");
  app.option_defaults()->always_capture_default();
}

void add_machine_options(CLI::App& app, MachineOptions& options) {
  app.add_option("--backend", options.backend, "Where to run: auto is the best of this build")
      ->check(CLI::IsMember({"auto", "cuda", "openmp", "serial"}));
  std::vector<std::string> products{"blockspan", "kokkos-kernels", "cusparse"};
  for (auto const& variant : spmm_variants) products.emplace_back(variant.id);
  app.add_option(
         "--spmm", options.spmm,
         "Whose sparse product the solver uses; or one of Blockspan's kernels, where its plan "
         "would choose")
      ->check(CLI::IsMember(products));
  app.add_option("--report", options.report, "Write a JSON report to this file");
  app.add_flag("--quiet", options.quiet, "Print nothing but errors");
}

bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& request) {
    app.exit(request, std::cout, std::cerr);
    return false;
  } catch (CLI::ParseError const& error) {
    throw Error(std::string(error.what()) + " (see --help)");
  }
  return true;
}

}  // namespace blockspan::apps
