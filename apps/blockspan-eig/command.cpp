#include "blockspan-eig/command.hpp"

#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

#include "common/command_line.hpp"

namespace blockspan::apps {

namespace {

void add_problem(CLI::App& app, EigCommand& command) {
  app.add_option("MATRIX", command.matrix,
                 "A Matrix Market file (.mtx, .mtx.gz) or a generator spec, see below")
      ->required();
  app.add_option("--mass", command.mass, "M of the pencil A x = lambda M x, a file or a spec");
  app.add_option("--operator", command.operator_kind,
                 "matrix: A itself; laplacian, adjacency: of the graph of its pattern")
      ->check(CLI::IsMember({"matrix", "laplacian", "adjacency"}));
}

void add_solver(CLI::App& app, EigCommand& command) {
  app.add_option("--pairs", command.pairs, "Eigenpairs wanted")->check(at_least_one());
  app.add_option("--which", command.which, "Which end of the spectrum")
      ->check(CLI::IsMember({"smallest", "largest"}));
  app.add_option("--block", command.block, "Columns of the block, guards included")
      ->default_str("what suits --pairs")
      ->check(at_least_one());
  app.add_option("--tolerance", command.tolerance, "Residual at which a pair counts as converged");
  app.add_option("--criterion", command.criterion,
                 "backward: ||r|| <= tol (||A|| + |lambda| ||M||) ||x||; "
                 "relative: ||r|| <= tol |lambda| ||M x||")
      ->check(CLI::IsMember({"backward", "relative"}));
  app.add_option("--preconditioner", command.preconditioner, preconditioner_help)
      ->default_str("jacobi; none for the largest pairs of one matrix");
  app.add_option("--max-iterations", command.max_iterations, "Iteration limit")
      ->check(at_least_one());
  app.add_option("--seed", command.seed, "Of the random start");
}

/// Jacobi favours rows with a small diagonal: right at the lower end of the spectrum, wrong at the
/// upper one, where only a pencil still gains by its scaling.
void choose_preconditioner(EigCommand& command) {
  constexpr double chebyshev_ratio = 30;
  bool const upper_end = command.which == "largest" && command.mass.empty();
  if (command.preconditioner.empty()) command.preconditioner = upper_end ? "none" : "jacobi";
  command.preconditioner_choice = parse_preconditioner(command.preconditioner, chebyshev_ratio);
}

void check_combination(EigCommand const& command) {
  require(command.tolerance > 0 && command.tolerance < 1, "--tolerance", command.tolerance,
          " is not between 0 and 1");
  require(command.block == 0 || command.block >= command.pairs, "--block", command.block,
          " columns cannot hold --pairs ", command.pairs);
  require(command.machine.report.empty() || command.machine.report != command.vectors, "--vectors",
          command.vectors, " is also the file of --report");
  for (std::string const& output : {command.machine.report, command.vectors})
    require(output.empty() || (output != command.matrix && output != command.mass), output,
            "would overwrite the input");
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
