#include "blockspan-solve/table.hpp"

#include <algorithm>
#include <ostream>

#include "blockspan-solve/advice.hpp"
#include "blockspan-solve/judge.hpp"
#include "common/files/words.hpp"

namespace blockspan::apps {

namespace {

std::string counted(long long number, std::string const& what) {
  return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

void print_heading(std::ostream& out, SolveCommand const& command, SolveResult const& result) {
  std::string const rhs =
      command.rhs.empty() ? "random, seed " + std::to_string(command.seed) : command.rhs;
  auto const& solver = result.solver;
  out << "matrix   " << command.matrix << "  (" << grouped(result.rows) << " rows, "
      << grouped(result.nonzeros) << " nonzeros, " << result.scalar << ")\n"
      << "rhs      " << counted(result.columns, "column") << ", " << rhs
      << (command.guess.empty() ? "" : ", start " + command.guess) << "\n"
      << "where    " << in_words(result.device) << "\n";
  if (result.ranks.any()) out << "ranks    " << result.ranks.in_words() << "\n";
  out << "product  " << result.product << "\n"
      << "solver   conjugate gradients, " << solver.method << " (" << solver.reason << "), "
      << (result.preconditioner.empty() ? "no preconditioner" : result.preconditioner)
      << ", relative residual " << formatted("%.3g", command.tolerance) << "\n\n";
}

void print_levels(std::ostream& out, SolveCommand const& command, SolveResult const& result) {
  if (command.multigrid.levels && result.levels) out << result.levels->table() << "\n";
}

void print_columns(std::ostream& out, SolveResult const& result) {
  bool const parts = std::any_of(result.solver.columns.begin(), result.solver.columns.end(),
                                 [](auto const& column) { return column.outside > 0; });
  out << "  column  iterations  true residual  backward error  "
      << (parts ? "outside the range  " : "") << "status\n";
  for (std::size_t j = 0; j < result.status.size(); ++j)
    out << formatted("%8.0f", static_cast<double>(j + 1))
        << formatted("  %10.0f", result.solver.columns[j].iterations)
        << formatted("  %13.1e", result.true_residuals[j])
        << formatted("  %14.1e", result.solver.columns[j].backward_error)
        << (parts ? formatted("  %17.1e", result.solver.columns[j].outside) : "") << "  "
        << words(result.status[j]) << "\n";
  out << "\n";
}

void print_conclusion(std::ostream& out, SolveCommand const& command, SolveResult const& result) {
  auto const solved = std::count_if(result.status.begin(), result.status.end(), [](Status status) {
    return status == Status::converged || status == Status::zero_rhs;
  });
  auto const& solver = result.solver;
  if (result.converged)
    out << (result.columns == 1 ? "The column" : "All " + counted(result.columns, "column"))
        << " solved";
  else
    out << "NOT SOLVED: " << solved << " of " << counted(result.columns, "column");
  out << ", " << counted(solver.iterations, "iteration") << ", "
      << counted(solver.counters.operator_applications, "block product") << ", ";
  if (auto const inner = solver.counters.inner_operator_applications; inner > 0)
    out << grouped(inner) << " more in single precision, ";
  out << formatted("%.2f s", solver.seconds.total) << "\n";
  Status const reason = stop_reason(result);
  if (!result.converged) out << words(reason) << ": " << solve_advice(command, result) << "\n";
  for (std::string const& note : result.notes) out << "note: " << note << "\n";
}

void print_seconds(std::ostream& out, SolveResult const& result) {
  auto const& solver = result.solver.seconds;
  auto const part = [&](char const* name, double seconds) {
    out << "  " << name << formatted(" %.2f", seconds);
  };
  out << "seconds ";
  part("load", result.seconds.load);
  part("setup", result.seconds.setup);
  part("product", solver.product);
  part("precondition", solver.preconditioner);
  part("gram", solver.gram);
  part("update", solver.update);
  part("dense", solver.dense);
  part("verify", solver.verify);
  if (solver.inner > 0) part("single precision", solver.inner);
  part("check", result.seconds.check);
  part("total", result.seconds.total);
  out << "\n";
}

}  // namespace

void print_result(std::ostream& out, SolveCommand const& command, SolveResult const& result) {
  print_heading(out, command, result);
  print_levels(out, command, result);
  print_columns(out, result);
  print_conclusion(out, command, result);
  print_seconds(out, result);
  out << std::flush;
}

}  // namespace blockspan::apps
