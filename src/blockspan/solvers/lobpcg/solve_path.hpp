#pragma once

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/solvers/lobpcg/subspace/problem.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::eigen {

/// Columns iterated together in a solve that is given an X of `columns`. Batches do not grow: where
/// they are of one column, a second one is the guard that the search for missed pairs needs.
template <class Scalar, class Exec>
std::int64_t iterated_columns(LobpcgOptions<Scalar, Exec> const& options, std::int64_t columns) {
  if (options.block == 1 && options.wanted > 1 && options.probe) return 2;
  return options.block > 0 ? options.block : columns;
}

/// True if `rows` rows hold five blocks in addition to the constraints, and to the locked pairs
/// when only those of one block are missing; a block without guards gets one for the search for
/// missed pairs. Otherwise the problem is solved densely.
template <class Scalar, class Exec>
bool holds_five_blocks(std::int64_t rows, LobpcgOptions<Scalar, Exec> const& options,
                       std::int64_t columns) {
  std::int64_t const block = iterated_columns(options, columns);
  std::int64_t const locked = std::max<std::int64_t>(0, options.wanted - block);
  std::int64_t const constraints = options.constraints.extent(1);
  bool const guarded = block != options.wanted || !options.probe;
  return rows - constraints - locked >= 5 * (block + (guarded ? 0 : 1));
}

/// Predicted seconds of the two ways to a solution: enough to choose between them, the same on
/// every run. Rates were read off one thread of a host (OpenBLAS, tridiagonal reduction bound by
/// memory) and an H200; another machine shifts the choice a little, not the result.
template <class Scalar, class Exec>
struct PathModel {
  static constexpr bool on_device = on_cuda_v<Exec>;
  static constexpr double arithmetic = is_complex_v<Scalar> ? 4 : 1;
  static constexpr double reduction_rate = 2.5e9;   ///< multiply-adds of a tridiagonal reduction
  static constexpr double product_rate = 1.5e9;     ///< of a sparse product
  static constexpr double block_rate = 5e9;         ///< of Gram matrices and updates
  static constexpr double factor_rate = 1e10;       ///< of Cholesky factors and triangular solves
  static constexpr double device_iteration = 5e-4;  ///< seconds, launches and waits
  static constexpr double device_eigen = 4e-8;      ///< seconds over n^2, cuSOLVER
  static constexpr double device_speed = 30;        ///< over the host's rates, of tall blocks
  static constexpr double most_bytes = 4.0 * (1 << 30);  ///< of a dense solve, on all ranks

  double rows, nonzeros, ranks;
  bool generalized;

  explicit PathModel(Problem<Scalar, Exec> const& problem)
      : rows(static_cast<double>(problem.used_rows())),
        nonzeros(problem.ranks().largest(
            static_cast<double>(*problem.facts_of_a().work) +
            (problem.generalized() ? static_cast<double>(*problem.facts_of_b().work) : 0.0))),
        ranks(problem.ranks().size()),
        generalized(problem.generalized()) {}

  double dense(int wanted) const {
    double const cube = rows * rows * rows;
    double const eigen = on_device ? device_eigen * rows * rows
                                   : arithmetic * (2.0 / 3 * cube / reduction_rate +
                                                   2 * rows * rows * wanted / block_rate);
    return image_of_identity() + eigen +
           (generalized ? arithmetic * 7.0 / 6 * cube / factor_rate : 0.0);
  }
  /// One iteration with m columns, all of them active.
  double iteration(int m) const {
    double const basis = 3.0 * m, speed = on_device ? device_speed : 1;
    double const tall = rows * basis * (basis * 2 + m * (generalized ? 6.0 : 4.0));
    return arithmetic * (nonzeros * m / product_rate + tall / block_rate) / speed +
           arithmetic * 10 * basis * basis * basis / block_rate +
           (on_device ? device_iteration : 0);
  }
  /// The operators applied to every column of the identity: of a function that is most of the time.
  double image_of_identity() const {
    return arithmetic * nonzeros * rows / product_rate / (on_device ? device_speed : 1);
  }
  bool fits() const { return 6 * rows * rows * sizeof(Scalar) * ranks <= most_bytes; }
};

/// What is decided before the first iteration.
struct PathChoice {
  bool dense = false;
  bool may_change = false;  ///< to the dense path, once the iteration has cost `dense_seconds`
  double dense_seconds = 0;
  std::string reason;
};

/// Seconds that a dense solve after an iteration that fell short may be predicted to take.
constexpr double affordable_dense_seconds = 60;

/// Iterations that a dense solve may cost and still be taken at once: what an iteration is likely
/// to need without a preconditioner or with the diagonal, with another one, and with one that is
/// nearly exact.
constexpr int dense_at_once = 200, dense_at_once_preconditioned = 60,
              dense_at_once_nearly_exact = 10;

template <class Scalar, class Exec>
PathChoice choose_path(Problem<Scalar, Exec> const& problem,
                       LobpcgOptions<Scalar, Exec> const& options, std::int64_t columns) {
  PathChoice choice;
  PathModel<Scalar, Exec> const model(problem);
  int const m = static_cast<int>(iterated_columns(options, columns));
  choice.dense_seconds = model.dense(options.wanted);
  double const iterations = choice.dense_seconds / model.iteration(m);
  std::ostringstream words;
  if (!holds_five_blocks(problem.used_rows(), options, columns)) {
    choice.dense = true;
    words << "five blocks of " << m << " columns do not fit into " << problem.used_rows()
          << " rows";
  } else if (options.path == SolvePath::dense) {
    choice.dense = true;
    words << "asked for";
  } else if (options.path == SolvePath::iterative) {
    words << "asked for";
  } else if (!options.checkpoint.empty() || !options.resume.empty()) {
    words << "a solve with checkpoints iterates";
  } else if (!model.fits()) {
    words << "a dense matrix of " << problem.used_rows() << " rows is too large";
  } else {
    bool const exact = options.preconditioner && options.preconditioner->facts().nearly_exact;
    bool const strong = problem.preconditioned() && !problem.weights();
    choice.dense = iterations < (exact    ? dense_at_once_nearly_exact
                                 : strong ? dense_at_once_preconditioned
                                          : dense_at_once) &&
                   choice.dense_seconds <= options.time_limit;
    choice.may_change = !choice.dense;
    words << "a dense solve is predicted to cost " << static_cast<std::int64_t>(iterations)
          << " iterations";
  }
  choice.reason = words.str();
  return choice;
}

}  // namespace blockspan::eigen
