#pragma once

#include <string>
#include <string_view>

#include <blockspan/operators/chebyshev_options.hpp>

namespace blockspan {

/// The preconditioners that users can select by a string.
enum class PreconditionerKind {
  none,
  jacobi,
  block_jacobi,
  chebyshev,
  gauss_seidel,
  direct,
  multigrid,
  automatic
};

/// A preconditioner parsed from a string: --preconditioner of the programs, and options of C,
/// Fortran and PETSc.
struct PreconditionerWords {
  PreconditionerKind kind = PreconditionerKind::none;
  std::string name = "none";                ///< of the kind, as spelled in the string
  int block_size = 0;                       ///< of block-jacobi; 0: found in the pattern
  int degree = ChebyshevOptions{}.degree;   ///< of chebyshev, of the smoother of multigrid
  double ratio = ChebyshevOptions{}.ratio;  ///< b / a of chebyshev's interval
};

/// The forms that parse_preconditioner_words accepts.
inline constexpr char const* preconditioner_forms =
    "none, jacobi, block-jacobi[:ROWS], chebyshev[:DEGREE[:RATIO]], gauss-seidel, direct, "
    "multigrid[:DEGREE] or automatic";

/// Parses one of those forms. ratio: of chebyshev if the string has none. Throws Error, whose
/// message begins with `option`, for anything else.
PreconditionerWords parse_preconditioner_words(std::string_view option, std::string const& text,
                                               double ratio = ChebyshevOptions{}.ratio);

}  // namespace blockspan
