#pragma once

#include <string>
#include <string_view>

#include <blockspan/operators/chebyshev_options.hpp>

namespace blockspan {

/// The preconditioners that words can ask for.
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

/// What the words of a user ask for: of the programs' --preconditioner, of C, Fortran and PETSc.
struct PreconditionerWords {
  PreconditionerKind kind = PreconditionerKind::none;
  std::string name = "none";                ///< of the kind, as it is spelled
  int block_size = 0;                       ///< of block-jacobi; 0: found in the pattern
  int degree = ChebyshevOptions{}.degree;   ///< of chebyshev, of the smoother of multigrid
  double ratio = ChebyshevOptions{}.ratio;  ///< of the ends of chebyshev's interval
};

/// The forms that parse_preconditioner_words reads.
inline constexpr char const* preconditioner_forms =
    "none, jacobi, block-jacobi[:ROWS], chebyshev[:DEGREE[:RATIO]], gauss-seidel, direct, "
    "multigrid[:DEGREE] or automatic";

/// Reads one of those forms. ratio: of chebyshev where the words have none. Throws Error, which
/// begins with `option`, for anything else.
PreconditionerWords parse_preconditioner_words(std::string_view option, std::string const& text,
                                               double ratio = ChebyshevOptions{}.ratio);

}  // namespace blockspan
