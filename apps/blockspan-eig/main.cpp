// blockspan-eig: the smallest or largest eigenpairs of a sparse matrix or pencil. Reads the command
// line, loads or generates the problem, solves it, checks the residuals and reports.
#include <string>

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/report.hpp"
#include "blockspan-eig/solve.hpp"
#include "blockspan-eig/table.hpp"
#include "common/machine/memory.hpp"
#include "common/machine/threads.hpp"
#include "common/problem/problem.hpp"
#include "common/run/application.hpp"
#include "common/run/run_solver.hpp"

namespace {

namespace apps = blockspan::apps;

/// Checks the sizes of the problem before anything is loaded; returns whether it is complex. alone:
/// one rank has it all.
bool inspect(apps::EigCommand const& command, bool alone) {
  auto const A = apps::inspect_square_source(command.matrix);
  using blockspan::require;
  using Exact = apps::ExactRequest::Kind;
  bool const asks_pairs =
      command.exact.kind != Exact::interval && command.exact.kind != Exact::count;
  require(!asks_pairs || command.pairs <= A.rows, "--pairs", command.pairs, " are more than the ",
          A.rows, " rows of ", command.matrix);
  require(command.block <= A.rows, "--block", command.block, " columns are more than the ", A.rows,
          " rows of ", command.matrix);
  bool complex = A.complex;
  auto const of_same_rows = [&](char const* option, std::string const& file,
                                apps::SourceInfo const& found) {
    require(found.rows == A.rows, option, file, " has ", found.rows, " rows, but ", command.matrix,
            " has ", A.rows);
    complex = complex || found.complex;
  };
  if (!command.mass.empty())
    of_same_rows("--mass", command.mass, apps::inspect_square_source(command.mass));
  if (!command.initial.empty()) {
    auto const X = apps::inspect_source(command.initial);
    of_same_rows("--initial", command.initial, X);
    int const room = command.vector_columns(A.rows);
    require(X.columns <= room, "--initial", command.initial, " has ", X.columns,
            " columns, but the block has ", room);
  }
  if (!command.constraints.empty()) {
    auto const Y = apps::inspect_source(command.constraints);
    of_same_rows("--constraints", command.constraints, Y);
    require(command.pairs + Y.columns <= A.rows, "--pairs", command.pairs, " and ", Y.columns,
            " constraints are more than the ", A.rows, " rows of ", command.matrix);
  }
  if (alone)  // the vectors found, and W, A X and A W of a block
    apps::require_room(command.matrix, command.machine.backend, A.rows,
                       command.vector_columns(A.rows) + 3 * command.block_columns(A.rows),
                       complex ? 16 : 8,
                       "fewer --pairs, a smaller --block, or ranks on several machines take less");
  return complex;
}

}  // namespace

int main(int argc, char** argv) {
  apps::share_machine(argv);
  auto const run = [&](blockspan::Communicator const& ranks) -> int {
    auto const command = ranks.run_agreed([&] { return apps::parse_command(argc, argv); });
    if (!command) return apps::success;  // --help or --version was answered
    return apps::run_solver(*command, "--vectors", command->vectors, inspect, ranks);
  };
  return apps::run_application("blockspan-eig", argc, argv, run);
}
