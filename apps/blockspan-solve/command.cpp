#include "blockspan-solve/command.hpp"

#include <cmath>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

#include "common/files/words.hpp"
#include "common/problem/precision.hpp"
#include "common/run/command_line.hpp"

namespace blockspan::apps {

namespace {

void add_problem(CLI::App& app, SolveCommand& command) {
  add_matrix_argument(app, command.matrix);
  add_symmetrize_option(app, command.symmetrize);
  auto* const rhs = app.add_option("--rhs", command.rhs,
                                   "B, a Matrix Market file with one right-hand side a column");
  auto* const columns = app.add_option("--columns", command.columns,
                                       "Random right-hand sides, where there is no --rhs")
                            ->check(at_least_one());
  auto* const seed = app.add_option("--seed", command.seed, "Of the random right-hand sides");
  columns->excludes(rhs);
  seed->excludes(rhs);
  app.add_option(
      "--null-space", command.null_space,
      "Of a singular matrix: constant (Neumann problems, graph Laplacians), or a Matrix "
      "Market file of vectors that it maps to zero. The component of B along them, which "
      "no X can reach, is removed");
  app.add_option("--guess", command.guess,
                 "Initial guess of X, a Matrix Market file of the shape of B");
}

void add_solver(CLI::App& app, SolveCommand& command) {
  app.add_option(
         "--method", command.method,
         "block: all right-hand sides share one Krylov space; pseudo-block: each has its own, "
         "and they share passes over memory; auto: by their count and the preconditioner")
      ->check(CLI::IsMember({"auto", "pseudo-block", "block"}));
  app.add_flag("--single-reduction", command.single_reduction,
               "One reduction an iteration instead of two (--method pseudo-block, preconditioner "
               "none or jacobi): faster on GPUs, for up to a few percent more iterations");
  app.add_option("--preconditioner", command.preconditioner, preconditioner_help)
      ->default_str("automatic; jacobi with --precision mixed or --single-reduction");
  add_multigrid_options(app, command.multigrid);
  app.add_option("--precision", command.precision, precision_help)
      ->check(CLI::IsMember({"working", "mixed"}));
  app.add_option("--tolerance", command.tolerance,
                 "||b - A x|| / ||b|| at which a column counts as solved");
  app.add_option("--absolute-tolerance", command.absolute_tolerance,
                 "||b - A x|| at which it counts as solved, too");
  app.add_option("--max-iterations", command.max_iterations, "Iteration limit")
      ->check(at_least_one());
  app.add_option("--solution", command.solution, "Write the solution to this Matrix Market file");
}

void check_combination(SolveCommand const& command) {
  require(command.tolerance >= 0 && command.tolerance < 1, "--tolerance",
          in_full(command.tolerance), " is not in [0, 1)");
  require(command.absolute_tolerance >= 0 && std::isfinite(command.absolute_tolerance),
          "--absolute-tolerance", command.absolute_tolerance, " is negative or not finite");
  using Kind = PreconditionerChoice::Kind;
  Kind const kind = command.preconditioner_choice.kind;
  require(!command.single_reduction ||
              (command.method == "pseudo-block" && (kind == Kind::none || kind == Kind::jacobi)),
          "--single-reduction",
          "needs --method pseudo-block and --preconditioner none or jacobi (--method ",
          command.method, ", --preconditioner ", command.preconditioner, ")");
}

}  // namespace

std::optional<SolveCommand> parse_command(int argc, char** argv) {
  SolveCommand command;
  CLI::App app;
  set_up(app, "blockspan-solve",
         "Solves A X = B for Hermitian positive definite A and many right-hand sides, by conjugate "
         "gradients.");
  add_problem(app, command);
  add_solver(app, command);
  add_machine_options(app, command.machine);
  app.footer([] {
    return "Generator specs:\n" + generator_help() +
           "\nExit status: 0 all columns solved; 1 it ran, but not all are (the report is "
           "written);\n2 bad input or usage. OMP_NUM_THREADS sets the threads of openmp.";
  });
  if (!parse(app, argc, argv)) return std::nullopt;
  bool const plain = command.precision == "mixed" || command.single_reduction;
  if (command.preconditioner.empty()) command.preconditioner = plain ? "jacobi" : "automatic";
  command.preconditioner_choice = parse_preconditioner(command.preconditioner, command.multigrid);
  check_combination(command);
  return command;
}

}  // namespace blockspan::apps
