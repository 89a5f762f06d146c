#include "claims/system_claims.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace blockspan::test {

namespace {

bool is_zero(std::vector<std::complex<double>> const& v) {
  return std::all_of(v.begin(), v.end(), [](auto const& z) { return z == 0.0; });
}

/// What is wrong with the status of a column; empty: nothing.
std::string fault_of(std::size_t j, SystemProblem const& problem, SystemTruth const& truth,
                     SystemQuestion const& question, SystemAnswer const& answer) {
  auto const& b = problem.rhs[j];
  auto const& x = answer.x[j];
  std::ostringstream out;
  switch (answer.report.columns[j].status) {
    case Status::converged: {
      if (!is_finite(b) || !is_finite(x)) return "not finite";
      auto const exact = exact_residual(problem.A, x, b);
      if (exact.relative <= 1.001 * question.tolerance) return "";
      out << "its residual is " << exact.relative << " of ||b|| = " << exact.rhs;
      return out.str();
    }
    case Status::zero_rhs:
      return is_zero(b) && is_zero(x) ? "" : "not zero";
    case Status::nonfinite_rhs:
      return is_finite(b) ? "b is finite" : "";
    case Status::inconsistent:
      if (!is_finite(b)) return "b is not finite";
      if (!truth.nearly_singular) return "the matrix is regular";
      if (problem.solvable) return "it has a solution of ordinary size";
      return truth.signs.zero > 0 && is_consistent(problem.A, b) ? "it has a solution" : "";
    case Status::singular:
      return truth.nearly_singular ? "" : "the matrix is regular";
    case Status::negative_curvature:
      return truth.signs.negative > 0 ? "" : "the matrix is positive semidefinite";
    case Status::preconditioner_not_spd: {  // of others only the library knows
      using Choice = SystemQuestion::Preconditioner;
      bool const definite =
          question.preconditioner == Choice::none || question.preconditioner == Choice::jacobi;
      return definite ? "the preconditioner is definite" : "";
    }
    case Status::operator_not_hermitian:
    case Status::operator_not_finite:
      return "the matrix is Hermitian and finite";
    default:
      return "";  // claims nothing
  }
}

}  // namespace

SystemQuestion SystemQuestion::pick_one(Random& random, Dense const& A) {
  constexpr CgMethod methods[] = {CgMethod::automatic, CgMethod::automatic, CgMethod::block,
                                  CgMethod::pseudo_block};
  constexpr Preconditioner preconditioners[] = {Preconditioner::jacobi, Preconditioner::none,
                                                Preconditioner::jacobi, Preconditioner::chebyshev,
                                                Preconditioner::jacobi, Preconditioner::multigrid};
  constexpr double tolerances[] = {1e-8, 1e-8, 1e-8, 1e-4, 1e-12};
  SystemQuestion question;
  question.method = methods[random.below(4)];
  question.preconditioner = preconditioners[random.below(6)];
  question.tolerance = tolerances[random.below(5)];
  question.single_reduction = random.below(8) == 0;
  for (int i = 0; i < A.order(); ++i)
    if (A(i, i).real() < 0) question.preconditioner = Preconditioner::none;
  return question;
}

std::string SystemQuestion::words(int rows, std::size_t columns) const {
  constexpr char const* methods[] = {"auto", "pseudo-block", "block"};
  constexpr char const* preconditioners[] = {"none", "jacobi", "chebyshev", "multigrid"};
  std::ostringstream out;
  out << rows << " rows, " << columns << " columns, " << methods[static_cast<int>(method)] << ", "
      << preconditioners[static_cast<int>(preconditioner)] << ", tolerance " << tolerance
      << (single_reduction ? ", single reduction" : "");
  return out.str();
}

SystemTruth::SystemTruth(Dense const& A)
    : signs(inertia(shifted(A, nullptr, Exact(), A.is_complex()))),
      nearly_singular(
          is_nearly_singular(A, 16 * (A.order() + 4) * std::numeric_limits<double>::epsilon())) {}

void judge_columns(SystemProblem const& problem, SystemTruth const& truth,
                   SystemQuestion const& question, SystemAnswer const& answer, Outcome& outcome) {
  auto const& report = answer.report;
  for (std::size_t j = 0; j < problem.rhs.size(); ++j) {
    outcome.solved += report.columns[j].success() ? 1 : 0;
    auto const fault = fault_of(j, problem, truth, question, answer);
    if (!fault.empty())
      outcome.wrong.push_back("column " + std::to_string(j) + " (" +
                              std::string(to_string(report.columns[j].status)) + "): " + fault);
  }
  if (report.indefinite && truth.signs.negative == 0)
    outcome.wrong.push_back("called indefinite: the matrix is positive semidefinite");
}

bool is_finite(std::vector<std::complex<double>> const& v) {
  return std::all_of(v.begin(), v.end(), [](std::complex<double> const& z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  });
}

bool is_ordinary(std::vector<std::complex<double>> const& b) { return is_finite(b) && !is_zero(b); }

}  // namespace blockspan::test
