#pragma once

#include <cstdint>
#include <string>

namespace blockspan {

/// What a preconditioner is for.
enum class SolveKind { system, eigenpairs };

/// Whether a problem is one for multigrid, before anything of it was tried.
struct MultigridAdvice {
  enum class When {
    never,
    late,  ///< once another method has taken as long as the setup would (see is_time_to_switch)
    at_once
  };
  When when;
  std::string reason;  ///< in words
};

/// rows: of the matrix; below 20,000 launches and the setup bound it, and other methods are done
/// before. condition: largest over smallest Ritz value of W A after twelve Lanczos steps
/// (estimate_spectrum); for eigenpairs, below 30 the diagonal dominates and polynomials do as well,
/// otherwise 50,000 rows and more gain. (Twelve steps show 50 to 62 of grids with 7 and 27 points
/// of 40^3 and 64^3 nodes, however small their smallest eigenvalues are.) Whether a hierarchy is
/// good, only its probe can tell.
MultigridAdvice advise_multigrid(std::int64_t rows, SolveKind kind, double condition);

/// The time of a setup, in products of the matrix with one column. One H200: laplace7:100 1250,
/// laplace27:80 630, elasticity:44 with rigid bodies 1290; hosts were not measured.
inline constexpr double multigrid_setup_products = 1000;

/// After `seconds`, with the error at `error` of its start: the solve has taken as long as a setup
/// would, and more than half of the digits of `tolerance` are still to go. To switch then, and go
/// on from what was reached, costs at most about twice what the better of the two methods would
/// have.
bool is_time_to_switch(double seconds, double setup_seconds, double error, double tolerance);

}  // namespace blockspan
