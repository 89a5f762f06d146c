#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

namespace blockspan {

/// The precision of a cycle. single: half the bytes, and hardly more iterations; the setup is in
/// double precision all the same, and so is a hierarchy of one level, which is an inverse. working:
/// the solver's.
enum class MultigridPrecision { single, working };

template <class Scalar, class Exec>
struct MultigridOptions {
  using Real = real_t<Scalar>;

  // Properties of the problem.
  /// Vectors that A maps to little compared with their size, n x q, 1 <= q <= 16: the constant for
  /// a diffusion, rigid bodies for a structure. No columns: as below.
  ConstBlock<Scalar, Exec> near_null = {};
  /// Where the nodes of a structure are, nodes x 2 or nodes x 3, for as many unknowns a node:
  /// rigid bodies are made of them. Rows are numbered node by node.
  ConstBlock<Real, Exec> coordinates = {};
  /// Unknowns of a node, 1 to 16, consecutive rows: they stay together, and without other vectors
  /// each has a constant of its own. With 1: the constant or D^-1/2 times it, whichever A maps to
  /// less. 0: what find_block_size finds in the pattern, where that divides the rows.
  int block_size = 0;
  /// Near-null vectors to make by a few steps of an eigensolver, 0 to 16; 0: none. For
  /// structures without coordinates and high-order elements (6), not for graphs.
  int adaptive = 0;

  /// A given hierarchy: P of each level, rows of a level x rows of the next; coarse matrices are
  /// P^H A P. All other options are then ignored, except those of the cycle. (exchange.hpp reads
  /// such prolongators from files.)
  std::vector<CrsMatrix<Scalar, Exec>> prolongators = {};

  // The hierarchy.
  /// Strong neighbours are those that a pulse at a row reaches in two steps, and prolongators are
  /// smoothed twice: for anisotropy across the grid, and plates. Scalar problems only (one
  /// near-null vector, one unknown a node); where these are left weak, the setup tries it unasked.
  bool pulses = false;
  double theta = 0.15;     ///< of the strength test, in [0, 1); halved from level to level
  int coarse_rows = 1000;  ///< the last level has no more, 1 to 10000
  int max_levels = 12;     ///< 1 to 50
  MultigridPrecision precision = MultigridPrecision::single;

  // The cycle.
  int degree = 2;     ///< of the Chebyshev smoother, 1 to 4
  int columns = 8;    ///< width of the blocks expected; any other works too
  bool probe = true;  ///< estimate its quality by at most eight steps of conjugate gradients
  std::uint64_t seed = 1;

  /// Throws Error if a field is out of range for a matrix of `rows` rows.
  void validate(std::int64_t rows) const;
};

enum class MultigridStatus {
  unknown,        ///< not probed, and nothing speaks against it
  good,           ///< the cycle leaves no smooth error, by the probe
  fair,           ///< it leaves some
  weak,           ///< it leaves much: see the message
  no_coarsening,  ///< no strong neighbours, or too few aggregates
  indefinite,     ///< A or the cycle is not positive semidefinite: not usable
  not_hermitian   ///< A is not Hermitian: not usable
};
char const* to_string(MultigridStatus status);

/// One level, a line of MultigridReport::table().
struct MultigridLevelReport {
  std::int64_t rows = 0, nodes = 0, nonzeros = 0;
  double upper = 0;  ///< bound of the largest eigenvalue of D^-1 A; 0: the level is inverted
  // Of the coarsening to the next level.
  double theta = 0;
  std::int64_t aggregates = 0, largest = 0, left_out = 0;  ///< the last two in nodes
  std::int64_t spent = 0;  ///< coarse columns that A maps to zero: dropped
  int rounds = 0;          ///< of the first independent set
  std::int64_t prolongator_nonzeros = 0;
  bool smoothed = true;  ///< false: the tentative prolongator, a smoothed one has too much fill
  double seconds = 0;    ///< of the setup
};

/// Wall-clock seconds of a setup or a refresh, by phase.
struct MultigridSeconds {
  double spectrum = 0;   ///< bounds of eigenvalues, of levels and filtered matrices
  double near_null = 0;  ///< computing near-null vectors
  double graph = 0;      ///< strength and aggregates
  double tentative = 0;  ///< Gram-Schmidt in aggregates, and the filtered pattern
  double patterns = 0;   ///< of P, its adjoint and, on devices, the products
  double values = 0;     ///< of the products and, on devices, of P; on hosts with their patterns
  double plans = 0;      ///< of products with the levels
  double inverse = 0;    ///< of the last level
  double cycle = 0;      ///< copies in the cycle's precision, and plans for them
  double probe = 0;

  std::vector<std::pair<char const*, double>> named() const {
    return {{"spectrum", spectrum}, {"near-null vectors", near_null},
            {"graph", graph},       {"tentative", tentative},
            {"patterns", patterns}, {"values", values},
            {"plans", plans},       {"inverse", inverse},
            {"cycle", cycle},       {"probe", probe}};
  }
  double sum() const {
    double all = 0;
    for (auto const& phase : named()) all += phase.second;
    return all;
  }
  MultigridSeconds& operator+=(MultigridSeconds const& more) {
    for (auto const phase :
         {&MultigridSeconds::spectrum, &MultigridSeconds::near_null, &MultigridSeconds::graph,
          &MultigridSeconds::tentative, &MultigridSeconds::patterns, &MultigridSeconds::values,
          &MultigridSeconds::plans, &MultigridSeconds::inverse, &MultigridSeconds::cycle,
          &MultigridSeconds::probe})
      this->*phase += more.*phase;
    return *this;
  }
};

struct MultigridReport {
  MultigridStatus status = MultigridStatus::unknown;
  std::string message;             ///< of a status that is not good or fair
  std::vector<std::string> notes;  ///< for the user
  std::vector<MultigridLevelReport> levels;
  int near_null = 0;                 ///< near-null vectors
  bool single = false;               ///< the cycle is in single precision
  bool exact_last = true;            ///< the last level is inverted; else smoothed
  int null_vectors = 0;              ///< of the last level, where it is singular
  double complexity = 1;             ///< nonzeros of all levels over those of the first
  double grid_complexity = 1;        ///< rows of all levels over those of the first
  double products = 0;               ///< work of a cycle, in products with A
  double smallest = 0, largest = 0;  ///< Ritz values of M^-1 A, by the probe; 0: not probed
  int predicted_iterations = 0;      ///< to 1e-8, an upper bound where the status is good
  MultigridSeconds phases;
  double seconds = 0;  ///< sum of the phases

  /// Whether it can be used as a preconditioner.
  bool usable() const {
    return status != MultigridStatus::indefinite && status != MultigridStatus::not_hermitian;
  }
  /// Whether some tens of iterations are enough, by the probe.
  bool strong() const { return status == MultigridStatus::good || status == MultigridStatus::fair; }
  /// The levels, one line each below a header.
  std::string table() const;
  /// Status, message and table.
  std::string describe() const;
};

}  // namespace blockspan
