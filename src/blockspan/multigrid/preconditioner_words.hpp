#pragma once

#include <string>
#include <string_view>

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
  std::string name = "none";  ///< of the kind, as it is spelled
  int block_size = 0;         ///< of block-jacobi; 0: found in the pattern
  int degree = 4;             ///< of chebyshev, of the smoother of multigrid
  double ratio = 0;           ///< of the ends of chebyshev's interval
};

/// The forms that parse_preconditioner_words reads.
inline constexpr char const* preconditioner_forms =
    "none, jacobi, block-jacobi[:ROWS], chebyshev[:DEGREE[:RATIO]], gauss-seidel, direct, "
    "multigrid[:DEGREE] or automatic";

/// Reads one of those forms; `ratio` is the default for chebyshev. Throws Error, which begins with
/// `option`, for anything else.
PreconditionerWords parse_preconditioner_words(std::string_view option, std::string const& text,
                                               double ratio);

}  // namespace blockspan
