#include "blockspan-eig/table.hpp"

#include <algorithm>
#include <ostream>

#include "blockspan-eig/advice.hpp"
#include "blockspan-eig/exact.hpp"
#include "common/files/words.hpp"

namespace blockspan::apps {

namespace {

std::string matrix_in_words(EigCommand const& command, EigResult const& result) {
  std::string const kind = command.operator_kind == "matrix" ? "" : command.operator_kind + " of ";
  return kind + command.matrix + "  (" + grouped(result.rows) + " rows, " +
         grouped(result.nonzeros) + " nonzeros, " + result.scalar + ")";
}

void print_heading(std::ostream& out, EigCommand const& command, EigResult const& result) {
  out << "matrix   " << matrix_in_words(command, result) << "\n";
  if (!command.mass.empty())
    out << "mass     " << command.mass << "  (" << grouped(result.mass_nonzeros) << " nonzeros)\n";
  out << "where    " << in_words(result.device) << "\n";
  if (result.ranks.any()) out << "ranks    " << result.ranks.in_words() << "\n";
  out << "product  " << result.product << "\n";
  if (command.exact || result.exact) {
    out << "solver   factors (LDL^T" << (result.exact ? " by " + result.exact->library : "") << ")"
        << (result.exact ? ", block Lanczos, residual " + formatted("%.3g", command.tolerance) : "")
        << (command.exact.buckling ? ", buckling" : "") << "\n";
    if (!command.exact) out << "path     exact (" << result.solver.path_reason << ")\n";
    out << "\n";
    return;
  }
  out << "solver   LOBPCG, " << result.block << " columns for " << command.pairs
      << (command.pairs == 1 ? " pair, " : " pairs, ")
      << (result.preconditioner.empty() ? "no preconditioner" : result.preconditioner) << ", "
      << (command.precision == "mixed" ? "mixed precision, " : "")
      << (command.criterion == "relative" ? "relative" : "backward") << " residual "
      << formatted("%.3g", command.tolerance);
  if (command.criterion == "digits") out << " and " << command.digits << " certain digits";
  out << "\n";
  if (result.solver.path != "iterative")
    out << "path     " << result.solver.path << " (" << result.solver.path_reason << ")\n";
  if (!result.solver.scaling.empty()) out << "scaling  " << result.solver.scaling << "\n";
  out << "\n";
  if (command.multigrid.levels && result.levels) out << result.levels->table() << "\n";
}

void print_pairs(std::ostream& out, EigResult const& result) {
  auto const& interval = result.solver.certificate.gap_radius;
  out << "  pair             eigenvalue  digits  backward error  relative residual"
      << (interval.empty() ? "" : "  certain within") << "  status\n";
  for (std::size_t j = 0; j < result.solver.eigenvalues.size(); ++j) {
    out << formatted("%6.0f", static_cast<double>(j + 1))
        << formatted("  %21.14e", result.solver.eigenvalues[j])
        << formatted("  %6.1f", result.solver.certain_digits[j])
        << formatted("  %14.1e", result.check.backward[j])
        << formatted("  %17.1e", result.check.relative[j]);
    if (!interval.empty()) out << formatted("  %14.1e", interval[j]);
    out << "  " << words(result.status[j]);
    if (result.status[j] == Status::zero_eigenvalue)
      out << formatted(" (within %.1e)", result.solver.error_bounds[j]);
    out << "\n";
  }
  out << "\n";
}

void print_conclusion(std::ostream& out, EigCommand const& command, EigResult const& result) {
  auto const converged = std::count_if(result.status.begin(), result.status.end(), is_done);
  auto const& solver = result.solver;
  if (result.converged)
    out << "All " << command.pairs << " pairs converged";
  else
    out << "NOT CONVERGED: " << converged << " of " << command.pairs << " pairs";
  out << ", " << solver.iterations << " iterations";
  if (solver.single.used) out << " (" << solver.single.iterations << " in single precision)";
  out << ", " << solver.counters.operator_applications << " block products, "
      << formatted("%.2f s", solver.seconds.total) << "\n";
  if (!result.converged) out << words(solver.status) << ": " << advice(command, result) << "\n";
  for (std::string const& note : result.notes) out << "note: " << note << "\n";
}

void print_seconds(std::ostream& out, EigResult const& result) {
  auto const& solver = result.solver.seconds;
  auto const part = [&](char const* name, double seconds) {
    out << "  " << name << formatted(" %.2f", seconds);
  };
  out << "seconds ";
  part("load", result.seconds.load);
  part("setup", result.seconds.setup);
  if (auto const single = result.solver.single.seconds.total; single > 0)
    part("single precision", single);
  part("product", solver.operator_a);
  if (result.mass_nonzeros > 0) part("mass", solver.operator_b);
  part("precondition", solver.preconditioner);
  part("gram", solver.gram);
  part("update", solver.update);
  part("residual", solver.residual);
  part("dense", solver.dense);
  part("check", result.seconds.check);
  part("total", result.seconds.total);
  out << "\n";
}

}  // namespace

void print_result(std::ostream& out, EigCommand const& command, EigResult const& result) {
  print_heading(out, command, result);
  if (command.exact.kind != ExactRequest::Kind::count) print_pairs(out, result);
  if (command.exact || result.exact) {
    print_exact(out, command, result);
    out << std::flush;
    return;
  }
  print_conclusion(out, command, result);
  print_seconds(out, result);
  out << std::flush;
}

}  // namespace blockspan::apps
