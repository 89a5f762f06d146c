// blockspan-eig: the smallest or largest eigenpairs of a sparse matrix or pencil. Reads the command
// line, loads or generates the problem, solves it, checks the residuals and reports.
#include <chrono>
#include <iostream>
#include <string>

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/report.hpp"
#include "blockspan-eig/solve.hpp"
#include "blockspan-eig/table.hpp"
#include "common/application.hpp"
#include "common/interrupt.hpp"
#include "common/problem.hpp"

namespace {

namespace apps = blockspan::apps;

/// Checks the sizes of the problem before anything is loaded; returns whether it is complex.
bool inspect(apps::EigCommand const& command) {
  auto const A = apps::inspect_square_source(command.matrix);
  using blockspan::require;
  require(command.pairs <= A.rows, "--pairs", command.pairs, " are more than the ", A.rows,
          " rows of ", command.matrix);
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
    require(command.pairs + Y.columns <= A.rows, "--pairs", command.pairs, " beside ", Y.columns,
            " constraints are more than the ", A.rows, " rows of ", command.matrix);
  }
  return complex;
}

apps::EigResult solve_on_backend(apps::EigCommand const& command, bool complex,
                                 apps::OutputFile* vectors) {
  apps::ProgressLine progress(command.machine.quiet);
  apps::InterruptGuard const guard;
  return apps::with_backend(command.machine.backend, [&](auto const& exec) {
    return complex ? apps::solve<Kokkos::complex<double>>(exec, command, progress, vectors)
                   : apps::solve<double>(exec, command, progress, vectors);
  });
}

int run(apps::EigCommand const& command) {
  auto const start = std::chrono::steady_clock::now();
  auto const report = apps::claim_output("--report", command.machine.report, true);
  auto const vectors = apps::claim_output("--vectors", command.vectors, false);
  bool const complex = inspect(command);
  apps::KokkosSession const kokkos;
  apps::EigResult result = solve_on_backend(command, complex, vectors.get());
  result.seconds.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!command.machine.quiet) apps::print_result(std::cout, command, result);
  if (report) report->write(apps::report_text(command, result));
  return result.converged ? apps::success : apps::incomplete;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-eig", [&] {
    auto const command = apps::parse_command(argc, argv);
    return command ? run(*command) : apps::success;  // none: --help or --version was answered
  });
}
