// blockspan-solve: A X = B for a sparse Hermitian positive definite A and many right-hand sides.
// Reads the command line, loads or generates the problem, solves it, checks the residuals and
// reports.
#include <cstdint>

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/report.hpp"
#include "blockspan-solve/solve.hpp"
#include "blockspan-solve/table.hpp"
#include "common/machine/memory.hpp"
#include "common/machine/threads.hpp"
#include "common/problem/problem.hpp"
#include "common/run/application.hpp"
#include "common/run/run_solver.hpp"

namespace {

namespace apps = blockspan::apps;

/// Checks the sizes of the problem before anything is loaded; returns whether it is complex. alone:
/// one rank has it all.
bool inspect(apps::SolveCommand const& command, bool alone) {
  using blockspan::require;
  auto const A = apps::inspect_square_source(command.matrix);
  bool complex = A.complex;
  std::int64_t columns = command.columns;
  if (!command.rhs.empty()) {
    auto const B = apps::inspect_source(command.rhs);
    require(B.rows == A.rows, "--rhs", command.rhs, " has ", B.rows, " rows, but ", command.matrix,
            " has ", A.rows);
    require(B.columns > 0, "--rhs", command.rhs, " has no columns");
    columns = B.columns;
    complex = complex || B.complex;
  }
  if (!command.guess.empty()) {
    auto const X = apps::inspect_source(command.guess);
    require(X.rows == A.rows && X.columns == columns, "--guess", command.guess, " is ", X.rows,
            " x ", X.columns, ", but the solution is ", A.rows, " x ", columns);
    complex = complex || X.complex;
  }
  if (!command.null_space.empty() && command.null_space != "constant") {
    auto const N = apps::inspect_source(command.null_space);
    require(N.rows == A.rows, "--null-space", command.null_space, " has ", N.rows, " rows, but ",
            command.matrix, " has ", A.rows);
    require(N.columns > 0 && N.columns <= A.rows, "--null-space", command.null_space, " has ",
            N.columns, " columns, but ", command.matrix, " has ", A.rows, " rows");
    complex = complex || N.complex;
  }
  if (alone)  // B and X
    apps::require_room(command.matrix, command.machine.backend, A.rows, 2 * columns,
                       complex ? 16 : 8,
                       "fewer right-hand sides, or ranks on several machines take less");
  return complex;
}

}  // namespace

int main(int argc, char** argv) {
  apps::share_machine(argv);
  auto const run = [&](blockspan::Communicator const& ranks) -> int {
    auto const command = ranks.run_agreed([&] { return apps::parse_command(argc, argv); });
    if (!command) return apps::success;  // --help or --version was answered
    return apps::run_solver(*command, "--solution", command->solution, inspect, ranks);
  };
  return apps::run_application("blockspan-solve", argc, argv, run);
}
