// blockspan-spmm: products of a sparse matrix with a block of vectors, checked and timed. Reads the
// command line, loads or generates the matrix, runs the kernels and reports.
#include <iostream>
#include <string>

#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/measure.hpp"
#include "blockspan-spmm/report.hpp"
#include "blockspan-spmm/table.hpp"
#include "common/application.hpp"
#include "common/dispatch.hpp"
#include "common/interrupt.hpp"
#include "common/output_file.hpp"
#include "common/problem.hpp"
#include "common/threads.hpp"

namespace {

namespace apps = blockspan::apps;

/// The scalar asked for, or the one that suits the matrix.
std::string choose_scalar(apps::SpmmCommand const& command, bool complex) {
  blockspan::require(
      !command.scalar.empty() || !complex || apps::has_scalar<Kokkos::complex<double>>,
      command.matrix, "is complex, and this build has only ", apps::scalar_names(apps::Scalars()),
      " (see Blockspan_SCALARS)");
  if (command.scalar.empty()) return complex ? "c128" : "f64";
  blockspan::require(!complex || command.scalar.front() == 'c', "--scalar " + command.scalar,
                     command.matrix, " is complex: take c64 or c128");
  return command.scalar;
}

int run(apps::SpmmCommand const& command) {
  auto const report = apps::claim_output("--report", command.report, true);
  std::string const scalar = choose_scalar(command, apps::inspect_source(command.matrix).complex);
  apps::KokkosSession const kokkos;
  apps::SpmmResult const result = apps::with_backend(command.backend, [&](auto const& exec) {
    return apps::with_scalar(scalar, [&](auto const& tag) {
      apps::ProgressLine progress(command.quiet);
      apps::InterruptGuard const guard;
      return apps::measure<std::decay_t<decltype(tag)>>(exec, command, progress);
    });
  });
  if (!command.quiet) apps::print_result(std::cout, command, result);
  if (report) report->write(apps::report_text(command, result));
  return result.wrong() == 0 ? apps::success : apps::incomplete;
}

}  // namespace

int main(int argc, char** argv) {
  apps::share_machine(argv);
  auto const on = [&](blockspan::Communicator const& ranks) -> int {
    auto const command = ranks.together([&] {
      blockspan::require(ranks.size() == 1, "mpirun", "this program runs on one rank only");
      return apps::parse_command(argc, argv);
    });
    return command ? run(*command) : apps::success;  // none: --help or --version was answered
  };
  return apps::run_application("blockspan-spmm", argc, argv, on);
}
