#pragma once

#include <chrono>
#include <iostream>
#include <memory>
#include <span>
#include <string>

#include <Kokkos_Core.hpp>

#include "common/files/output_file.hpp"
#include "common/machine/dispatch.hpp"
#include "common/ranks/ranks.hpp"
#include "common/run/application.hpp"
#include "common/run/interrupt.hpp"
#include "common/run/progress.hpp"

namespace blockspan::apps {

namespace running {

/// Throws Error where this build lacks the scalar of the problem.
template <class Command>
void require_scalar(Command const& command, bool complex) {
  require(!complex || has_scalar<Kokkos::complex<double>>, command.matrix,
          "the problem is complex, and this build has real scalars only: build it with "
          "complex_double in Blockspan_SCALARS");
}

template <class Command>
auto solve_on_backend(Command const& command, bool complex, OutputFile* vectors,
                      Communicator const& ranks) {
  ProgressLine progress(command.machine.quiet || ranks.rank() > 0);
  return with_backend(command.machine.backend, [&](auto const& exec) {
    auto const of = [&]<class Scalar>(Scalar) {
      return solve<Scalar>(exec, command, progress, vectors, ranks_of(exec, ranks));
    };
    if constexpr (has_scalar<Kokkos::complex<double>>)
      if (complex) return of(Kokkos::complex<double>());
    return of(double());
  });
}

}  // namespace running

/// The course of an app that solves something: claims its outputs, looks at its inputs, solves,
/// prints and reports. Returns the exit status.
///
/// The app provides solve<Scalar>(exec, command, progress, file, ranks), print_result and
/// report_text for its Command, its outputs() and inputs(), and inspect(command, alone), which
/// checks the sizes of the problem before anything is loaded, and where no other ranks take part
/// its memory, and returns whether it is complex. vectors: the file for the vectors found, given by
/// `option`; empty: none. Rank 0 writes.
///
/// An output that cannot be written costs that file only: it is noted, and said in the end.
template <class Command, class Inspect>
int run_solver(Command const& command, std::string const& option, std::string const& vectors,
               Inspect const& inspect, Communicator const& ranks) {
  auto const start = std::chrono::steady_clock::now();
  std::unique_ptr<OutputFile> report, file;
  bool complex = false;
  ranks.run_agreed([&] {
    if (ranks.rank() > 0) return;
    require_readable(command.inputs());
    require_separate(command.outputs(), command.inputs());
    for (auto const& output : command.outputs())
      claim_output(output.option, output.path, output.option == "--report");
    report = claim_output("--report", command.machine.report, true);
    file = claim_output(option, vectors, false);
    complex = inspect(command, ranks.size() == 1);
    running::require_scalar(command, complex);
  });
  ranks.broadcast(std::span(&complex, 1), 0);
  InterruptGuard const guard;
  KokkosSession const kokkos;
  auto result = running::solve_on_backend(command, complex, file.get(), ranks);
  result.seconds.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto& lost = result.lost;
  result.notes.insert(result.notes.end(), lost.begin(), lost.end());
  if (!command.machine.quiet) print_result(std::cout, command, result);
  std::cout.flush();
  if (report)
    if (auto const fault = report->write(report_text(command, result))) lost.push_back(*fault);
  std::string words;
  for (auto const& fault : lost) words += (words.empty() ? "" : "; ") + fault;
  words = ranks.words_of_first(words);
  if (!words.empty()) throw AgreedError(words);
  return result.converged ? success : incomplete;
}

}  // namespace blockspan::apps
