#pragma once

#include <string>

namespace blockspan::apps {

/// What --preconditioner asks for.
struct PreconditionerChoice {
  enum class Kind { none, jacobi, block_jacobi, chebyshev, gauss_seidel, incomplete_lu, direct };
  Kind kind = Kind::none;
  int block_size = 0;  ///< of block-jacobi; 0: found in the pattern
  int degree = 4;      ///< of chebyshev
  double ratio = 0;    ///< of the ends of its interval
};

/// The forms that parse_preconditioner reads, and what they mean for --help.
inline constexpr char const* preconditioner_forms =
    "none, jacobi, block-jacobi[:ROWS], chebyshev[:DEGREE[:RATIO]], gauss-seidel, ilu0 "
    "or direct";
inline constexpr char const* preconditioner_help =
    "none; jacobi; block-jacobi[:ROWS]: blocks of 2 to 8 rows, by default as found in the pattern; "
    "chebyshev[:DEGREE[:RATIO]]: a polynomial over jacobi that costs DEGREE - 1 products, RATIO: "
    "of the ends of its interval; gauss-seidel: a symmetric sweep, by Kokkos Kernels; ilu0: "
    "incomplete factors on the pattern of the matrix, by Kokkos Kernels, column by column and "
    "slow; "
    "direct: a complete factorization, by MUMPS on the host, for stiff problems that fit in memory";

/// Reads one of those forms; `ratio` is the default for chebyshev. Throws Error for anything else,
/// and where the component behind it was not linked.
PreconditionerChoice parse_preconditioner(std::string const& text, double ratio);

}  // namespace blockspan::apps
