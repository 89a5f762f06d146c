#include "blockspan-spmm/table.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "common/files/words.hpp"

namespace blockspan::apps {

namespace {

void print_heading(std::ostream& out, SpmmCommand const& command, SpmmResult const& result) {
  auto const& problem = result.problem;
  out << "matrix   " << command.matrix << "  (" << grouped(problem.rows) << " x "
      << grouped(problem.columns) << ", " << grouped(problem.nonzeros) << " nonzeros, "
      << problem.scalar << ")\n"
      << "product  Y = op(A) X, op " << command.op << ", X random, "
      << (command.layout == "left" ? "column-major" : "row-major") << "\n"
      << "where    " << in_words(result.device) << "\n"
      << "copy     " << formatted("%.1f GB/s", 1e-9 * result.copy.bytes_per_second)
      << ", the fastest of " << result.copy.batches << " batches of a Kokkos kernel that copies "
      << (result.copy.array_bytes >> 20) << " MiB, bytes read and written\n"
      << "floor    the time that reading A and X and writing Y, each once, takes at that speed, as "
         "a share\n         of the kernel's; above 100 % where caches help\n";
}

std::string kernel_in_words(SpmmRun const& run) {
  return run.ran == run.requested || run.ran.empty() ? run.requested
                                                     : run.requested + ": " + run.ran;
}

void print_times(std::ostream& out, SpmmResult const& result, SpmmRun const& run) {
  out << formatted("%12.4f", run.times->median_ms) << formatted("%9.3f", run.setup_ms)
      << formatted("%10.2f", result.gflops(run)) << formatted("%10.2f", result.gbytes(run))
      << formatted("%8.1f %%", 100 * result.share_of_floor(run))
      << formatted("%10.1e", run.verdict.error)
      << (run.verdict.deterministic ? "  equal" : "  vary") << "\n";
}

void print_wrong(std::ostream& out, Verdict const& verdict) {
  out << "       WRONG";
  if (verdict.not_a_number > 0) {
    out << ": " << grouped(verdict.not_a_number) << " elements of Y are NaN or were not written";
  } else {
    out << ": error " << formatted("%.1e", verdict.error) << ", bound "
        << formatted("%.1e", verdict.error_bound) << ", at row " << verdict.row + 1 << ", column "
        << verdict.column + 1;
  }
  out << (verdict.deterministic ? "" : "; its bits vary") << "\n";
}

void print_explanation(std::ostream& out, std::string const& explanation) {
  std::istringstream lines(explanation);
  for (std::string line; std::getline(lines, line);) out << "      " << line << "\n";
}

void print_run(std::ostream& out, SpmmCommand const& command, SpmmResult const& result,
               SpmmRun const& run, std::size_t width) {
  std::string const name = kernel_in_words(run);
  out << "  " << name << std::string(width - name.size(), ' ');
  if (!run.refused.empty())
    out << "  refused: " << run.refused << "\n";
  else if (run.times)
    print_times(out, result, run);
  else
    print_wrong(out, run.verdict);
  if (command.explain) print_explanation(out, run.explanation);
}

void print_width(std::ostream& out, SpmmCommand const& command, SpmmResult const& result,
                 std::size_t number) {
  CheckedRows const& checked = result.checked[number];
  std::size_t const kernels = command.kernels().size(), first = number * kernels;
  std::size_t width = 6;
  for (std::size_t i = first; i < first + kernels; ++i)
    width = std::max(width, kernel_in_words(result.runs[i]).size());
  out << "\n"
      << checked.columns << (checked.columns == 1 ? " column, " : " columns, ")
      << formatted("%.2f MB of traffic at least, ", 1e-6 * result.problem.bytes(checked.columns))
      << grouped(checked.rows) << " of " << grouped(checked.all_rows)
      << " rows checked in extended precision\n"
      << "  kernel" << std::string(width - 6, ' ')
      << "          ms    setup   GFLOP/s      GB/s     floor     error  bits\n";
  for (std::size_t i = first; i < first + kernels; ++i)
    print_run(out, command, result, result.runs[i], width);
}

void print_conclusion(std::ostream& out, SpmmResult const& result) {
  auto const refused = std::count_if(result.runs.begin(), result.runs.end(),
                                     [](SpmmRun const& run) { return !run.refused.empty(); });
  auto const ran = static_cast<int>(result.runs.size()) - static_cast<int>(refused);
  out << "\n";
  if (result.wrong() > 0)
    out << "WRONG: " << result.wrong() << " of " << ran << " results";
  else
    out << (ran == 1 ? "The result is right" : "All " + std::to_string(ran) + " results right");
  if (refused > 0) out << ", " << refused << " refused";
  out << "\n";
}

}  // namespace

void print_result(std::ostream& out, SpmmCommand const& command, SpmmResult const& result) {
  print_heading(out, command, result);
  for (std::size_t i = 0; i < result.checked.size(); ++i) print_width(out, command, result, i);
  print_conclusion(out, result);
  out << std::flush;
}

}  // namespace blockspan::apps
