#include "blockspan-eig/command.hpp"

#include <cmath>
#include <string>

#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

#include "blockspan-eig/exact.hpp"
#include "common/files/words.hpp"
#include "common/problem/precision.hpp"
#include "common/run/command_line.hpp"

namespace blockspan::apps {

namespace {

void add_problem(CLI::App& app, EigCommand& command) {
  add_matrix_argument(app, command.matrix);
  app.add_option("--mass", command.mass, "M of the pencil A x = lambda M x, a file or a spec");
  app.add_option("--operator", command.operator_kind,
                 "matrix: A itself; laplacian, adjacency: of the graph of its pattern")
      ->check(CLI::IsMember({"matrix", "laplacian", "adjacency"}));
  add_symmetrize_option(app, command.symmetrize);
}

void add_solver(CLI::App& app, EigCommand& command) {
  app.add_option("--pairs", command.pairs, "Eigenpairs wanted")->check(at_least_one());
  app.add_option("--which", command.which, "End of the spectrum")
      ->check(CLI::IsMember({"smallest", "largest"}));
  app.add_option("--block", command.block,
                 "Columns of the block, guards included; fewer than --pairs: in batches")
      ->default_str("what suits --pairs")
      ->check(at_least_one());
  app.add_option("--tolerance", command.tolerance, "Residual at which a pair counts as converged");
  app.add_option(
         "--criterion", command.criterion,
         "digits: backward, and --digits digits of the eigenvalue are certain, or it is zero; "
         "backward: ||r|| <= tol (||A|| + |lambda| ||M||) ||x||; "
         "relative: ||r|| <= tol |lambda| ||M x||")
      ->check(CLI::IsMember({"digits", "backward", "relative"}));
  app.add_option("--digits", command.digits, "Certain digits of every eigenvalue, 1 to 12")
      ->check(CLI::Range(1, 12));
  app.add_option(
         "--path", command.path,
         "iterative: LOBPCG; dense: LAPACK on the whole matrix; auto: the one predicted to be "
         "faster, and dense once the iteration has taken as long; by factors (component direct) "
         "for 40 smallest pairs or more, a tolerance of 1e-11, or a graded diagonal")
      ->check(CLI::IsMember({"auto", "iterative", "dense"}));
  app.add_option("--preconditioner", command.preconditioner, preconditioner_help)
      ->default_str(
          "automatic; none for the largest pairs of one matrix, jacobi for those of a pencil and "
          "with --precision mixed, --checkpoint or --resume");
  add_multigrid_options(app, command.multigrid);
  app.add_option("--precision", command.precision, precision_help)
      ->check(CLI::IsMember({"working", "mixed"}));
  app.add_option("--max-iterations", command.max_iterations, "Iteration limit")
      ->check(at_least_one());
  app.add_option("--seed", command.seed, "Of the random start");
  app.add_flag(
      "--certify", command.certify,
      "Report intervals that contain the eigenvalues, from residuals and gaps; for the smallest "
      "pairs also a count that shows whether one is missing (component direct)");
}

/// Two numbers with a comma between them.
void parse_interval(std::string const& option, std::string const& text, ExactRequest& exact) {
  auto const comma = text.find(',');
  require(comma != text.npos, option, "\"", text,
          "\" is not an interval A,B, as in 1e3,2e3 or -inf,5");
  auto const number = [&](std::string const& word) {
    double const value = parse_real(option, word, " in \"" + text + "\"");
    require(!std::isnan(value), option, "an end of \"", text, "\" is no number");
    return value;
  };
  exact.from = number(text.substr(0, comma));
  exact.to = number(text.substr(comma + 1));
  require(exact.from < exact.to, option, "the interval from ", in_full(exact.from), " to ",
          in_full(exact.to), " is empty");
}

/// The options of solves by factors, and those that they exclude.
void add_exact(CLI::App& app, EigCommand& command) {
  using Kind = ExactRequest::Kind;
  auto& exact = command.exact;
  auto const take = [&exact](Kind kind, std::string const& option) {
    return [&exact, kind, option](std::string const& text) {
      exact.kind = kind;
      parse_interval(option, text, exact);
    };
  };
  auto* const near = app.add_option_function<double>(
      "--near", [&exact](double sigma) { exact.kind = Kind::near, exact.from = exact.to = sigma; },
      "The --pairs nearest this shift, anywhere in the spectrum, and whether any is missing, by "
      "factors of A - shift M (component direct)");
  auto* const interval = app.add_option_function<std::string>(
      "--interval", take(Kind::interval, "--interval"),
      "All pairs between A and B (A,B; -inf and inf are allowed for a definite M), and whether any "
      "is missing");
  auto* const count = app.add_option_function<std::string>(
      "--count", take(Kind::count, "--count"), "Only count the eigenvalues between A and B (A,B)");
  near->excludes(interval)->excludes(count), interval->excludes(count);
  for (auto* const option : {near, interval, count})
    for (char const* const other :
         {"--which", "--criterion", "--digits", "--path", "--preconditioner", "--precision",
          "--certify", "--initial", "--constraints", "--spmm", "--near-null", "--coordinates",
          "--block-size", "--adaptive", "--hierarchy", "--levels"})
      option->excludes(app.get_option(other));
  for (auto* const option : {interval, count}) option->excludes(app.get_option("--pairs"));
  for (char const* const other :
       {"--vectors", "--tolerance", "--block", "--max-iterations", "--seed", "--time-limit"})
    count->excludes(app.get_option(other));
  for (auto* const option : {near, count})
    option->excludes(app.get_option("--checkpoint"))->excludes(app.get_option("--resume"));
  auto* const buckling =
      app.add_flag("--buckling", exact.buckling,
                   "With --near, --interval or --count: A is positive definite, and --mass "
                   "any geometric stiffness; nearest in 1 / lambda");
  app.add_flag("--cayley", exact.cayley,
               "With --near: the nearest in ratio, least |lambda - shift| / |lambda + shift|")
      ->needs(near)
      ->excludes(buckling);
  app.add_option("--slice", exact.slice, "Pairs of --interval per shift, approximately")
      ->check(at_least_one())
      ->needs(interval);
  app.add_option(
         "--factors", exact.factors,
         "Where matrices are factored: on the host by MUMPS, on a CUDA device by cuDSS (NVIDIA's "
         "wheel nvidia-cudss-cu13; BLOCKSPAN_CUDSS_LIBRARY names its libcudss.so.1); auto: on a "
         "device from 10,000 rows on, if available; with several ranks on rank 0")
      ->check(CLI::IsMember({"auto", "host", "device"}));
}

void add_course(CLI::App& app, EigCommand& command) {
  auto* const initial = app.add_option("--initial", command.initial,
                                       "Initial vectors, the columns of a Matrix Market file");
  app.add_option("--constraints", command.constraints,
                 "Vectors that the eigenvectors must be M-orthogonal to, likewise");
  app.add_option("--time-limit", command.time_limit, "Seconds for the solver")->default_str("none");
  app.add_option("--checkpoint", command.checkpoint,
                 "Save the state of the solve in this file, every ten minutes and when a limit or "
                 "an interrupt stops it");
  app.add_option("--resume", command.resume,
                 "Resume from such a file, with the results of an uninterrupted solve")
      ->excludes(initial);
}

void choose_preconditioner(EigCommand& command) {
  bool const one_method =
      command.precision == "mixed" || !command.checkpoint.empty() || !command.resume.empty();
  command.preconditioner_by_default = command.preconditioner.empty();
  if (command.preconditioner.empty())
    command.preconditioner =
        default_of_eigenpairs(command.which == "largest", !command.mass.empty(), one_method);
  command.preconditioner_choice = parse_preconditioner(command.preconditioner, command.multigrid);
}

void check_combination(EigCommand const& command) {
  require(command.tolerance > 0 && command.tolerance < 1, "--tolerance", in_full(command.tolerance),
          " is not between 0 and 1");
  auto const& exact = command.exact;
  require(exact || !exact.buckling, "--buckling", "goes with --near, --interval or --count");
  require(!exact.buckling || !command.mass.empty(), "--buckling",
          "needs the geometric stiffness, --mass");
  require(exact.kind != ExactRequest::Kind::near || std::isfinite(exact.from), "--near", exact.from,
          " is not a number");
  bool const split = exact.from <= 0 && exact.to >= 0;
  require(!exact.buckling || !split, exact.option(),
          "the loads of --buckling are sought on one side of zero");
  require(!exact.cayley || exact.from != 0, "--near",
          "--cayley takes the nearest in ratio: the shift may not be zero");
  require(command.time_limit > 0, "--time-limit", command.time_limit, " is not a positive time");
  bool const keeps = !command.checkpoint.empty() || !command.resume.empty();
  require(command.path != "dense" || !keeps, "--path dense",
          "a dense solve neither writes nor reads checkpoints (--checkpoint, --resume)");
}

/// Throws Error where an option was given that does nothing beside the others.
void refuse_idle_options(CLI::App const& app, EigCommand const& command) {
  require(app.count("--digits") == 0 || command.criterion == "digits", "--digits",
          "goes with --criterion digits, not with ", command.criterion);
  require(app.count("--factors") == 0 || command.exact || counts_pairs(command) ||
              may_take_factors(command),
          "--factors",
          "this solve makes no factors of A - shift M: it goes with --near, --interval, --count, "
          "--certify, or smallest pairs by --path auto without options that only an iteration has");
  if (command.path != "dense") return;
  for (char const* const other :
       {"--block", "--max-iterations", "--preconditioner", "--precision", "--initial",
        "--near-null", "--coordinates", "--block-size", "--adaptive", "--hierarchy", "--levels"})
    require(app.count(other) == 0, other, "does nothing in a dense solve (--path dense)");
}

}  // namespace

std::optional<EigCommand> parse_command(int argc, char** argv) {
  EigCommand command;
  CLI::App app;
  set_up(app, "blockspan-eig",
         "The smallest or largest eigenpairs of A x = lambda x or A x = lambda M x, for A "
         "Hermitian and M Hermitian positive definite, by LOBPCG; pairs inside the spectrum and "
         "counts by sparse factors.");
  add_problem(app, command);
  add_solver(app, command);
  add_course(app, command);
  app.add_option("--vectors", command.vectors, "Write the eigenvectors to this Matrix Market file");
  add_machine_options(app, command.machine);
  add_exact(app, command);
  app.footer([] {
    return "Generator specs:\n" + generator_help() +
           "\nExit status: 0 all pairs converged; 1 it ran, but not all converged (the report is "
           "written);\n2 bad input or usage. OMP_NUM_THREADS sets the threads of openmp.";
  });
  if (!parse(app, argc, argv)) return std::nullopt;
  // the vectors are exact to rounding where the factors are
  if (command.exact && app.count("--tolerance") == 0) command.tolerance = 1e-11;
  check_combination(command);
  choose_preconditioner(command);
  refuse_idle_options(app, command);
  return command;
}

}  // namespace blockspan::apps
