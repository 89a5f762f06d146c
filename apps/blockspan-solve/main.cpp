// blockspan-solve: A X = B for a sparse Hermitian positive definite A and many right-hand sides.
// Reads the command line, loads or generates the problem, solves it, checks the residuals and
// reports.
#include <chrono>
#include <iostream>
#include <string>

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/report.hpp"
#include "blockspan-solve/solve.hpp"
#include "blockspan-solve/table.hpp"
#include "common/application.hpp"
#include "common/interrupt.hpp"
#include "common/problem.hpp"

namespace {

namespace apps = blockspan::apps;

/// Checks the sizes of the problem before anything is loaded; returns whether it is complex.
bool inspect(apps::SolveCommand const& command) {
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
  return complex;
}

apps::SolveResult solve_on_backend(apps::SolveCommand const& command, bool complex,
                                   apps::OutputFile* solution) {
  apps::ProgressLine progress(command.machine.quiet);
  apps::InterruptGuard const guard;
  return apps::with_backend(command.machine.backend, [&](auto const& exec) {
    return complex ? apps::solve<Kokkos::complex<double>>(exec, command, progress, solution)
                   : apps::solve<double>(exec, command, progress, solution);
  });
}

int run(apps::SolveCommand const& command) {
  auto const start = std::chrono::steady_clock::now();
  auto const report = apps::claim_output("--report", command.machine.report, true);
  auto const solution = apps::claim_output("--solution", command.solution, false);
  bool const complex = inspect(command);
  apps::KokkosSession const kokkos;
  apps::SolveResult result = solve_on_backend(command, complex, solution.get());
  result.seconds.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!command.machine.quiet) apps::print_result(std::cout, command, result);
  if (report) report->write(apps::report_text(command, result));
  return result.converged ? apps::success : apps::incomplete;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-solve", [&] {
    auto const command = apps::parse_command(argc, argv);
    return command ? run(*command) : apps::success;  // none: --help or --version was answered
  });
}
