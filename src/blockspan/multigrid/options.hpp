#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// The precision of a cycle. single: half the memory traffic, and hardly more iterations; the setup
/// is in double precision nevertheless, and so is a hierarchy of one level, which is an inverse.
/// working: that of the solver.
enum class MultigridPrecision { single, working };

template <class Scalar, class Exec>
struct MultigridOptions {
  using Real = real_t<Scalar>;

  // Properties of the problem.
  /// Vectors x with A x small relative to x, n x q, 1 <= q <= 16: the constant for a diffusion
  /// problem, rigid body modes for a structure. No columns: from the options below.
  ConstBlock<Scalar, Exec> near_null = {};
  /// Coordinates of the nodes of a structure, nodes x 2 or nodes x 3, with 2 or 3 unknowns per
  /// node: rigid body modes are computed from them. Rows are numbered node by node.
  ConstBlock<Real, Exec> coordinates = {};
  /// Unknowns per node, 1 to 16, in consecutive rows: they are aggregated together, and without
  /// other near-null vectors each has its own constant. If 1: the constant or D^-1/2 times it,
  /// whichever A maps closer to zero. 0: the result of find_block_size, if it divides the rows.
  int block_size = 0;
  /// Number of near-null vectors to compute by a few steps of an eigensolver, 0 to 16; 0: none. For
  /// structures without coordinates and high-order elements (6), not for graphs.
  int adaptive = 0;

  /// A given hierarchy: P of each level, rows of a level x rows of the next; coarse matrices are
  /// P^H A P. All other options are then ignored, except those of the cycle. (exchange.hpp reads
  /// such prolongators from files.)
  std::vector<CrsMatrix<Scalar, Exec>> prolongators = {};

  // The hierarchy.
  /// Strong neighbours are those with large values two steps after a pulse at a row, and
  /// prolongators are smoothed twice: for anisotropy not aligned with the grid, and plates. Scalar
  /// problems only (one near-null vector, one unknown a node); if a hierarchy of such a problem is
  /// weak, the setup tries it without this option.
  bool pulses = false;
  double theta = 0.15;     ///< of the strength test, in [0, 1); halved from level to level
  int coarse_rows = 1000;  ///< coarsening ends at or below, 1 to 10000
  int max_levels = 12;     ///< 1 to 50
  MultigridPrecision precision = MultigridPrecision::single;

  // The cycle.
  int degree = 2;     ///< of the Chebyshev smoother, 1 to 4
  int columns = 8;    ///< expected width of blocks; any other is valid
  bool probe = true;  ///< estimate the quality by at most eight steps of conjugate gradients
  std::uint64_t seed = 1;

  /// Throws Error if a field is out of range for a matrix of `rows` rows.
  void validate(std::int64_t rows) const;
};

enum class MultigridStatus {
  unknown,        ///< not probed, and no fault was found
  good,           ///< no smooth error remains, by the probe
  fair,           ///< some smooth error remains
  weak,           ///< much smooth error remains: see the message
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
  std::int64_t spent = 0;  ///< coarse columns dropped because A maps them to zero
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
  double values = 0;   ///< of the products and, on devices, of P; on hosts including their patterns
  double plans = 0;    ///< of products with the matrices of levels
  double inverse = 0;  ///< of the last level
  double cycle = 0;    ///< copies in the cycle's precision, and their plans
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
  std::string message;             ///< unless the status is good or fair
  std::vector<std::string> notes;  ///< for the user
  std::vector<MultigridLevelReport> levels;
  int near_null = 0;                 ///< near-null vectors
  bool single = false;               ///< the cycle is in single precision
  bool exact_last = true;            ///< the last level is inverted, not smoothed
  int null_vectors = 0;              ///< of the last level, if it is singular
  double complexity = 1;             ///< nonzeros of all levels divided by those of the first
  double grid_complexity = 1;        ///< rows of all levels divided by those of the first
  double products = 0;               ///< work of a cycle, in products with A
  double smallest = 0, largest = 0;  ///< Ritz values of M^-1 A, by the probe; 0: not probed
  int predicted_iterations = 0;      ///< to 1e-8; an upper bound if the status is good
  MultigridSeconds phases;
  double seconds = 0;  ///< sum of the phases

  /// Whether it can be used as a preconditioner.
  bool usable() const {
    return status != MultigridStatus::indefinite && status != MultigridStatus::not_hermitian;
  }
  /// Of the Error to report where it cannot.
  ErrorKind fault_kind() const {
    return status == MultigridStatus::indefinite ? ErrorKind::not_definite : ErrorKind::input;
  }
  /// Whether some tens of iterations suffice, by the probe.
  bool strong() const { return status == MultigridStatus::good || status == MultigridStatus::fair; }
  /// The levels, one line each, after a header.
  std::string table() const;
  /// Status, message and table.
  std::string describe() const;
};

}  // namespace blockspan
