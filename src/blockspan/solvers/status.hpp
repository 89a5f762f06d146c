#pragma once

#include <string_view>

namespace blockspan {

/// Why a solve stopped, and the state of one pair or column. One table for all solvers; JSON
/// reports use these spellings. Each line says what the caller may do next.
enum class Status {
  converged,            ///< every test asked for holds, verified from the operators themselves
  attainable_limit,     ///< as accurate as the arithmetic allows, but above the tolerance: ask for
                        ///< less
  max_iterations,       ///< raise max_iterations, or precondition better
  time_limit,           ///< raise the time limit
  stagnated,            ///< restarts brought nothing: a better preconditioner or a wider block
  not_converged,        ///< (pair) the solve stopped before this pair converged
  operator_not_finite,  ///< the operator returned NaN or Inf for finite input
  operator_not_hermitian,  ///< V^H A V is not Hermitian: wrong operator, or not an eigenproblem for
                           ///< LOBPCG
  mass_not_positive_definite,  ///< x^H B x < 0 for some x: no real Rayleigh quotient exists
  basis_collapsed,             ///< no basis of full rank could be built, even after restarts
  stopped_by_monitor,          ///< the caller's monitor asked to stop
};

/// The spelling of a status in messages and reports, e.g. "max_iterations".
constexpr std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::attainable_limit:
      return "attainable_limit";
    case Status::max_iterations:
      return "max_iterations";
    case Status::time_limit:
      return "time_limit";
    case Status::stagnated:
      return "stagnated";
    case Status::not_converged:
      return "not_converged";
    case Status::operator_not_finite:
      return "operator_not_finite";
    case Status::operator_not_hermitian:
      return "operator_not_hermitian";
    case Status::mass_not_positive_definite:
      return "mass_not_positive_definite";
    case Status::basis_collapsed:
      return "basis_collapsed";
    case Status::stopped_by_monitor:
      return "stopped_by_monitor";
  }
  return "unknown";
}

}  // namespace blockspan
