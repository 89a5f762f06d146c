#pragma once

#include <string>
#include <vector>

#include <blockspan/multigrid/preconditioner_words.hpp>

#include "common/files/output_file.hpp"

namespace blockspan::apps {

/// The options of multigrid that describe a problem: --near-null, --coordinates, --block-size.
struct MultigridInputs {
  std::string near_null, coordinates;  ///< files; empty: none
  std::string hierarchy;               ///< a folder; empty: none
  int block_size = 0;                  ///< 0: found in the pattern
  int adaptive = 0;                    ///< vectors to make
  bool levels = false;                 ///< print the table of levels

  bool given() const {
    return !near_null.empty() || !hierarchy.empty() || !coordinates.empty() || block_size > 0 ||
           adaptive > 0 || levels;
  }
  /// All files that it names, those of the folder too.
  std::vector<NamedFile> files() const;
};

/// What --preconditioner asks for.
struct PreconditionerChoice : PreconditionerWords {
  using Kind = PreconditionerKind;
  std::string asked;  ///< as given
  MultigridInputs inputs;
};

/// The meaning of preconditioner_forms, for --help.
inline constexpr char const* preconditioner_help =
    "none; jacobi; block-jacobi[:ROWS]: blocks of 2 to 8 rows, by default as found in the pattern; "
    "chebyshev[:DEGREE[:RATIO]]: a polynomial over jacobi that costs DEGREE - 1 products; RATIO: "
    "upper over lower end of its interval (default 8 and 100); gauss-seidel: a symmetric sweep, by "
    "Kokkos Kernels; direct: a complete factorization, by MUMPS on the host, for stiff problems "
    "that fit in memory; multigrid[:DEGREE]: smoothed aggregation, for large problems on meshes "
    "and graphs; DEGREE: of the smoother, 1 to 4; automatic: starts with chebyshev (jacobi where "
    "that converges fast) and switches to multigrid, or to direct where it is linked, when the "
    "iterations left cost more, or before the first where the graph shows that";

/// Reads one of those forms. inputs: allowed for multigrid and automatic only. Throws Error for
/// anything else, and where the component behind it was not linked.
PreconditionerChoice parse_preconditioner(std::string const& text,
                                          MultigridInputs const& inputs = {});

}  // namespace blockspan::apps
