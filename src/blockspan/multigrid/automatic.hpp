#pragma once

#include <cstdint>
#include <string>

#include <blockspan/multigrid/options.hpp>

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

/// The work of a setup, in iterations of `columns` columns of the method that it would take over
/// from: 250 of one column, and each more costs a third of the first. Counted, not timed: the same
/// problem takes the same way on any load.
int multigrid_setup_iterations(int columns);

/// How many iterations are left until `tolerance`, at the pace of those so far that have brought
/// the error from one to `error`; infinite where it has not fallen.
double iterations_left(int iterations, double error, double tolerance);

/// At an eighth of a setup's work, and from there on: at the pace so far the solve would still take
/// more than a setup. To switch then, and go on from what was reached, costs at most an eighth of a
/// setup more than to have known, where the pace lasts.
bool is_time_to_switch(int iterations, int setup_iterations, double error, double tolerance);

/// Whether a hierarchy that its probe calls weak is still worth its iterations, where `left` of the
/// present method remain, a product and its vectors each. Both counts are hopeful: eight steps show
/// a fifth to all of what a weak hierarchy takes, a pace little of the plateau that may follow.
bool weak_multigrid_pays(MultigridReport const& report, double left);

}  // namespace blockspan
