#pragma once

#include <string_view>

namespace blockspan {

/// Why a solve stopped, and the state of one pair or column. One table for all solvers; JSON
/// reports use these spellings. Each line says what the caller may do next.
enum class Status {
  converged,            ///< every test asked for holds, verified from the operators themselves
  zero_rhs,             ///< (column) b = 0, so x = 0: success
  zero_eigenvalue,      ///< (pair) zero as far as the arithmetic shows: success
  attainable_limit,     ///< as accurate as the arithmetic allows, but above the tolerance: ask for
                        ///< less
  max_iterations,       ///< raise max_iterations, or precondition better
  time_limit,           ///< raise the time limit
  stagnated,            ///< restarts brought nothing: a better preconditioner or a wider block
  not_converged,        ///< (pair) the solve stopped before this pair converged
  operator_not_finite,  ///< the operator returned NaN or Inf for finite input
  operator_not_hermitian,      ///< V^H A V is not Hermitian: wrong operator, or not a problem for
                               ///< this solver
  mass_not_positive_definite,  ///< x^H B x < 0 for some x: no real Rayleigh quotient exists
  mass_singular,    ///< B is singular, and too few eigenvalues are finite (or none can be had): ask
                    ///< for fewer, or take the massless unknowns out
  missing_pairs,    ///< counts say that there are more pairs than were found: take a wider block
  singular_pencil,  ///< A - s B is singular for every s: A and B have a null vector in common
  stopped_by_monitor,  ///< the caller's monitor asked to stop
  out_of_range,        ///< (column) the format does not hold the solution to the
                       ///< tolerance: scale A or b
  nonfinite_rhs,       ///< (column) b has NaN or Inf; x is left as it was given
  negative_curvature,  ///< p^H A p < 0 for some p: A is not positive definite, CG does not apply
  singular,            ///< A is singular to working precision, and b seems to be outside its range
  inconsistent,        ///< b has a part outside the range of a singular A: no x solves A x = b;
                       ///< CgOptions::null_space solves for the rest of b
  preconditioner_not_spd,  ///< r^H M^-1 r <= 0 for some r: use another preconditioner, or none
};

/// Whether a pair of that status needs no more work.
constexpr bool is_done(Status pair) {
  return pair == Status::converged || pair == Status::zero_eigenvalue;
}

/// The spelling of a status in messages and reports, e.g. "max_iterations".
constexpr std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::zero_eigenvalue:
      return "zero_eigenvalue";
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
    case Status::mass_singular:
      return "mass_singular";
    case Status::missing_pairs:
      return "missing_pairs";
    case Status::singular_pencil:
      return "singular_pencil";
    case Status::stopped_by_monitor:
      return "stopped_by_monitor";
    case Status::zero_rhs:
      return "zero_rhs";
    case Status::out_of_range:
      return "out_of_range";
    case Status::nonfinite_rhs:
      return "nonfinite_rhs";
    case Status::negative_curvature:
      return "negative_curvature";
    case Status::singular:
      return "singular";
    case Status::inconsistent:
      return "inconsistent";
    case Status::preconditioner_not_spd:
      return "preconditioner_not_spd";
  }
  return "unknown";
}

}  // namespace blockspan
