#include "spmm/settings.hpp"

#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

#include "common/command_line.hpp"

namespace blockspan::perf {

std::optional<SpmmSettings> parse_spmm_settings(int argc, char** argv) {
  SpmmSettings settings;
  settings.cases = "perf/cases.json";
  CLI::App app;
  apps::set_up(app, "blockspan-perf-spmm",
               "Times Blockspan's products of a sparse matrix with a block of vectors beside those "
               "of cuSPARSE and Kokkos Kernels, and checks them all.");
  app.add_option("SPEC", settings.specs,
                 "Generator specs to measure in place of the file's cases: n = 1, 4, 8, 16, 32, "
                 "64, f64");
  app.add_option("--cases", settings.cases, "The file of the cases");
  app.add_option("--group", settings.groups, "A group of the file; may be repeated")
      ->default_str("all of them");
  app.add_flag("--quick", settings.quick,
               "Few products of each kernel; without SPEC and --group, of a few small cases");
  app.add_option("--out", settings.out, "Write the results to this JSON file, after each case");
  app.add_option("--commit", settings.commit, "Of Blockspan, for the record");
  app.footer(
      "Files of real matrices are looked for in BLOCKSPAN_MATRIX_DIR.\nExit status: 0 all results "
      "right; 1 a kernel was wrong or a case failed; 2 bad input or usage.");
  if (!apps::parse(app, argc, argv)) return std::nullopt;
  for (std::string const& spec : settings.specs) parse_generator_spec(spec);
  require(settings.specs.empty() || settings.groups.empty(), "--group",
          "chooses among the file's cases, and specs take their place");
  return settings;
}

}  // namespace blockspan::perf
