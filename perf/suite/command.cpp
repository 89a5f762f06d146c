#include "suite/command.hpp"

#include <blockspan/sparse/generator_spec.hpp>
#include <blockspan/support/error.hpp>

#include "common/run/command_line.hpp"
#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

void add_what(CLI::App& app, std::vector<std::string>& names) {
  app.add_option("STUDY", names,
                 "Studies to run (see --list), or generator specs to measure at n = 1, 4, 8, 16, "
                 "32, 64")
      ->default_str("all studies");
}

void add_options(CLI::App& app, Command& command) {
  app.add_flag("--quick", command.scope.quick, "Small cases, few products of each kernel");
  app.add_option("--backend", command.backend,
                 "Where to run: the suite measures on the best backend of its build")
      ->check(CLI::IsMember({"auto", "cuda", "openmp", "serial"}));
  app.add_option("--out", command.out,
                 "Folder of the results, STUDY.json each, written after every case; a run that was "
                 "interrupted goes on from there");
  app.add_flag("--fresh", command.fresh, "Begin anew instead");
  app.add_option("--at-most", command.at_most,
                 "End after this number of cases; the next run goes on")
      ->default_str("all of them");
  app.add_flag("--flush", command.flush, "Empty the caches before every product");
  app.add_option("--commit", command.commit, "Of Blockspan, for the record");
  app.add_option("--cases", command.scope.cases, "The file of the study cases");
  app.add_option("--group", command.scope.groups, "Of that file, this group; may be repeated")
      ->default_str("all of them");
  app.add_option("--matrix", command.scope.matrices,
                 "Only the cases of this matrix, as the studies name it; may be repeated")
      ->default_str("all of them");
  app.add_option("--python", command.python, "Runs the peers that are Python packages");
  app.add_option("--scripts", command.scripts, "The folder peers/ with their scripts");
  app.add_option("--peer-seconds", command.peer_seconds,
                 "A peer of the solvers that takes longer is ended, and not asked about larger "
                 "problems")
      ->check(CLI::PositiveNumber);
  app.add_option("--inject-fault", command.fault,
                 "Spoil the results of the contender with this id, to see that it is found");
}

/// blockspan-perf compare OLD NEW
std::optional<Command> parse_compare(int argc, char** argv) {
  Command command;
  command.what = Command::What::compare;
  CLI::App app;
  apps::set_up(app, "blockspan-perf compare",
               "Prints what became slower by more than the noise, wrong or lost.");
  app.add_option("RESULTS", command.compared, "OLD and NEW: two files, or two folders of them")
      ->required()
      ->expected(2);
  app.footer("Exit status: 0 nothing became slower; 1 something did; 2 bad input or usage.");
  if (!apps::parse(app, argc - 1, argv + 1)) return std::nullopt;
  return command;
}

}  // namespace

std::optional<Command> parse_command(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "compare") return parse_compare(argc, argv);
  Command command;
  command.scope.cases = BLOCKSPAN_PERF_FOLDER "/cases.json";
  command.scripts = BLOCKSPAN_PERF_FOLDER "/peers";
  std::vector<std::string> names;
  bool list = false;
  CLI::App app;
  apps::set_up(app, "blockspan-perf",
               "Runs studies of Blockspan's products and solvers with those of others, and checks "
               "every result.");
  add_what(app, names);
  app.add_flag("--list", list, "Print the studies and how many cases they have");
  add_options(app, command);
  app.footer(
      "'blockspan-perf compare OLD NEW' compares two runs; perf/report.py makes pages of one.\n"
      "Files of real matrices are looked for in BLOCKSPAN_MATRIX_DIR.\nExit status: 0 all results "
      "right; 1 a result was wrong, a case failed, or the run was ended early; 2 bad\ninput or "
      "usage.");
  if (!apps::parse(app, argc, argv)) return std::nullopt;
  if (list) command.what = Command::What::list;
  for (std::string const& name : names)
    (is_generator_spec(name) ? command.specs : command.studies).push_back(name);
  choose_studies(command.studies);
  for (std::string const& spec : command.specs) parse_generator_spec(spec);
  return command;
}

}  // namespace blockspan::perf
