// blockspan-spmm: products of a sparse matrix with a block of vectors, checked and timed. Reads the
// command line, loads or generates the matrix, runs the kernels and reports.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/measure.hpp"
#include "blockspan-spmm/ranks_result.hpp"
#include "blockspan-spmm/report.hpp"
#include "blockspan-spmm/table.hpp"
#include "common/files/output_file.hpp"
#include "common/machine/dispatch.hpp"
#include "common/machine/memory.hpp"
#include "common/machine/threads.hpp"
#include "common/problem/problem.hpp"
#include "common/run/application.hpp"
#include "common/run/interrupt.hpp"

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

/// `measure(exec, tag, progress)` with the scalar on the backend.
template <class Measure>
auto measured(apps::SpmmCommand const& command, std::string const& scalar, bool quiet,
              Measure const& measure) {
  // a device may take seconds to begin
  apps::InterruptGuard const guard({"interrupted: nothing was written", apps::bad_input});
  apps::KokkosSession const kokkos;
  return apps::with_backend(command.backend, [&](auto const& exec) {
    return apps::with_scalar(scalar, [&](auto const& tag) {
      apps::ProgressLine progress(quiet);
      return measure(exec, tag, progress);
    });
  });
}

template <class Result>
int report(apps::SpmmCommand const& command, blockspan::Communicator const& ranks,
           apps::OutputFile const* file, Result const& result) {
  if (!command.quiet) apps::print_result(std::cout, command, result);
  std::cout.flush();
  std::string lost;
  if (file) lost = file->write(apps::report_text(command, result)).value_or("");
  lost = ranks.words_of_first(lost);
  if (!lost.empty()) throw blockspan::AgreedError(lost);
  return result.wrong() == 0 ? apps::success : apps::incomplete;
}

int run(apps::SpmmCommand const& command, blockspan::Communicator const& ranks) {
  std::unique_ptr<apps::OutputFile> file;
  std::string scalar;
  ranks.run_agreed([&] {
    if (ranks.rank() > 0) return;
    apps::require_separate(command.outputs(), command.inputs());
    file = apps::claim_output("--report", command.report, true);
    auto const A = apps::inspect_source(command.matrix);
    scalar = choose_scalar(command, A.complex);
    constexpr std::int64_t least_bytes = 4;  // of a scalar
    if (ranks.size() == 1)
      apps::require_room(
          command.matrix, command.backend, A.rows,
          std::int64_t{2} * *std::max_element(command.columns.begin(), command.columns.end()),
          least_bytes, "fewer --columns take less");
  });
  if (ranks.size() == 1)
    return report(command, ranks, file.get(),
                  measured(command, scalar, command.quiet,
                           [&]<class Scalar>(auto const& exec, Scalar, auto& progress) {
                             return apps::measure<Scalar>(exec, command, progress);
                           }));
  std::vector<char> letters(scalar.begin(), scalar.end());
  ranks.broadcast(letters, 0);
  return report(
      command, ranks, file.get(),
      measured(command, {letters.begin(), letters.end()}, command.quiet || ranks.rank() > 0,
               [&]<class Scalar>(auto const& exec, Scalar, auto& progress) {
                 return apps::measure_on_ranks<Scalar>(exec, command, progress,
                                                       apps::ranks_of(exec, ranks));
               }));
}

}  // namespace

int main(int argc, char** argv) {
  apps::share_machine(argv);
  auto const on = [&](blockspan::Communicator const& ranks) -> int {
    auto const command = ranks.run_agreed([&] { return apps::parse_command(argc, argv); });
    return command ? run(*command, ranks)
                   : apps::success;  // none: --help or --version was answered
  };
  return apps::run_application("blockspan-spmm", argc, argv, on);
}
