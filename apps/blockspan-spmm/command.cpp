#include "blockspan-spmm/command.hpp"

#include <algorithm>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "common/run/command_line.hpp"

namespace blockspan::apps {

namespace {

void add_problem(CLI::App& app, SpmmCommand& command) {
  add_matrix_argument(app, command.matrix);
  app.add_option("--columns", command.columns, "Widths of the block, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("8,32")
      ->check(at_least_one());
  app.add_option("--scalar", command.scalar, "Of A, X and Y; c64 is complex<float>")
      ->check(CLI::IsMember({"f32", "f64", "c64", "c128"}))
      ->default_str("f64, or c128 if MATRIX is complex");
  app.add_option("--layout", command.layout, "Of X and Y: right is row-major, left column-major")
      ->check(CLI::IsMember({"right", "left"}));
  app.add_option("--op", command.op, "op(A)")
      ->check(CLI::IsMember({"none", "transpose", "conjugate", "adjoint"}));
  app.add_option("--seed", command.seed, "Of the random X");
}

void add_kernels(CLI::App& app, SpmmCommand& command) {
  std::vector<std::string> ids{"auto", "all"};
  for (auto const* const variant : spmm_variants()) ids.emplace_back(variant->id);
  app.add_option("--algorithm", command.algorithm,
                 "auto: the choice of the plan; the id of a kernel, see below; all: every kernel")
      ->check(CLI::IsMember(ids));
  app.add_option("--compare", command.compare, "Peers to run as well, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("none")
      ->check(CLI::IsMember({"cusparse", "kokkos-kernels"}));
  app.add_option("--inject-fault", command.fault,
                 "Spoil one element of the result of the kernel with this id")
      ->group("");  // for tests of the check itself: not in --help
}

void add_run(CLI::App& app, SpmmCommand& command) {
  app.add_option("--repeat", command.repeat, "Batches of products timed, of every kernel")
      ->check(at_least_one());
  app.add_option("--backend", command.backend, "Backend; auto: the fastest of this build")
      ->check(CLI::IsMember({"auto", "cuda", "openmp", "serial"}));
  app.add_flag("--explain", command.explain,
               "Print the statistics, the choice and the rejected kernels of each plan");
  app.add_option("--report", command.report, "Write a JSON report to this file");
  add_partition_option(app, command.partition);
  app.add_flag("--quiet", command.quiet, "Print nothing but errors");
}

/// CLI11 passes over empty entries of a list.
void refuse_gaps(int argc, char** argv, std::string const& option) {
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    std::string list;
    if (word == option && i + 1 < argc) list = argv[i + 1];
    if (word.rfind(option + "=", 0) == 0) list = word.substr(option.size() + 1);
    bool const has_gap = !list.empty() && (list.front() == ',' || list.back() == ',' ||
                                           list.find(",,") != list.npos);
    require(!has_gap, option, "'", list, "' has an empty entry (see --help)");
  }
}

std::string footer() {
  std::string text = "Kernels (--algorithm):\n";
  for (auto const* const variant : spmm_variants())
    text += "  " + std::string(variant->id) + ": " + variant->parts + "\n";
  return text + "\nGenerator specs:\n" + generator_help() +
         "\nExit status: 0 all results right; 1 a kernel was wrong (the report is written);\n2 bad "
         "input or usage. OMP_NUM_THREADS sets the threads of openmp.";
}

void check_combination(SpmmCommand const& command) {
  auto const ids = command.kernels();
  require(command.fault.empty() || std::count(ids.begin(), ids.end(), command.fault) > 0,
          "--inject-fault", command.fault, " is not among the kernels of this run");
}

}  // namespace

std::vector<std::string> SpmmCommand::kernels() const {
  std::vector<std::string> ids;
  if (algorithm == "all")
    for (auto const* const variant : spmm_variants()) ids.emplace_back(variant->id);
  else
    ids.push_back(algorithm);
  ids.insert(ids.end(), compare.begin(), compare.end());
  return ids;
}

std::optional<SpmmCommand> parse_command(int argc, char** argv) {
  SpmmCommand command;
  CLI::App app;
  set_up(app, "blockspan-spmm",
         "Checks and times products of a sparse matrix with a block of vectors, Y = op(A) X: "
         "Blockspan's kernels and their peers.");
  add_problem(app, command);
  add_kernels(app, command);
  add_run(app, command);
  app.footer(footer);
  for (char const* option : {"--columns", "--compare"}) refuse_gaps(argc, argv, option);
  if (!parse(app, argc, argv)) return std::nullopt;
  check_combination(command);
  return command;
}

}  // namespace blockspan::apps
