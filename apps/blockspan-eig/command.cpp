#include "blockspan-eig/command.hpp"

#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

#include "common/problem/precision.hpp"
#include "common/run/command_line.hpp"

namespace blockspan::apps {

namespace {

void add_problem(CLI::App& app, EigCommand& command) {
  app.add_option("MATRIX", command.matrix,
                 "A Matrix Market file (.mtx, .mtx.gz; - is the standard input) or a generator "
                 "spec, see below")
      ->required();
  app.add_option("--mass", command.mass, "M of the pencil A x = lambda M x, a file or a spec");
  app.add_option("--operator", command.operator_kind,
                 "matrix: A itself; laplacian, adjacency: of the graph of its pattern")
      ->check(CLI::IsMember({"matrix", "laplacian", "adjacency"}));
  add_symmetrize_option(app, command.symmetrize);
}

void add_solver(CLI::App& app, EigCommand& command) {
  app.add_option("--pairs", command.pairs, "Eigenpairs wanted")->check(at_least_one());
  app.add_option("--which", command.which, "Which end of the spectrum")
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
         "iterative: LOBPCG; dense: LAPACK on the whole matrix; auto: whichever is predicted "
         "to take less time, and dense where the iteration has taken as long")
      ->check(CLI::IsMember({"auto", "iterative", "dense"}));
  app.add_option("--preconditioner", command.preconditioner, preconditioner_help)
      ->default_str("jacobi; none for the largest pairs of one matrix");
  add_multigrid_options(app, command.multigrid);
  app.add_option("--precision", command.precision, precision_help)
      ->check(CLI::IsMember({"working", "mixed"}));
  app.add_option("--max-iterations", command.max_iterations, "Iteration limit")
      ->check(at_least_one());
  app.add_option("--seed", command.seed, "Of the random start");
  app.add_flag("--certify", command.certify,
               "Intervals that hold the eigenvalues, from residuals and gaps");
}

void add_course(CLI::App& app, EigCommand& command) {
  auto* const initial = app.add_option("--initial", command.initial,
                                       "A start, a Matrix Market file with one vector a column");
  app.add_option("--constraints", command.constraints,
                 "Vectors that the eigenvectors must be M-orthogonal to, such a file");
  app.add_option("--time-limit", command.time_limit, "Seconds for the solver")->default_str("none");
  app.add_option("--checkpoint", command.checkpoint,
                 "Keep the state of the solve in this file, renewed every ten minutes and when a "
                 "limit or an interrupt ends it");
  app.add_option("--resume", command.resume,
                 "Go on from such a file, as if there had been no break")
      ->excludes(initial);
}

/// Jacobi favours rows with a small diagonal: right at the lower end of the spectrum, wrong at the
/// upper one, where only a pencil still gains by its scaling.
void choose_preconditioner(EigCommand& command) {
  constexpr double chebyshev_ratio = 30;
  bool const upper_end = command.which == "largest" && command.mass.empty();
  if (command.preconditioner.empty()) command.preconditioner = upper_end ? "none" : "jacobi";
  command.preconditioner_choice =
      parse_preconditioner(command.preconditioner, chebyshev_ratio, command.multigrid);
}

void check_combination(EigCommand const& command) {
  require(command.tolerance > 0 && command.tolerance < 1, "--tolerance", command.tolerance,
          " is not between 0 and 1");
  require(command.time_limit > 0, "--time-limit", command.time_limit, " is not a positive time");
}

}  // namespace

std::optional<EigCommand> parse_command(int argc, char** argv) {
  EigCommand command;
  CLI::App app;
  set_up(app, "blockspan-eig",
         "The smallest or largest eigenpairs of A x = lambda x or A x = lambda M x, for A "
         "Hermitian and M Hermitian positive definite, by LOBPCG.");
  add_problem(app, command);
  add_solver(app, command);
  add_course(app, command);
  app.add_option("--vectors", command.vectors, "Write the eigenvectors to this Matrix Market file");
  add_machine_options(app, command.machine);
  app.footer([] {
    return "Generator specs:\n" + generator_help() +
           "\nExit status: 0 all pairs converged; 1 it ran, but not all converged (the report is "
           "written);\n2 bad input or usage. OMP_NUM_THREADS sets the threads of openmp.";
  });
  if (!parse(app, argc, argv)) return std::nullopt;
  check_combination(command);
  choose_preconditioner(command);
  return command;
}

}  // namespace blockspan::apps
