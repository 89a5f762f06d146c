#pragma once

#include <limits>
#include <string>
#include <utility>

#include <blockspan/distributed/factored_pencil.hpp>

#include "blockspan-eig/exact.hpp"
#include "common/files/input_file.hpp"
#include "common/machine/components.hpp"

namespace blockspan::apps {

/// Throws Error where the factors are not to be had.
inline void require_factors(ExactRequest const& exact) {
  require(has_direct, exact.option(), left_out("direct", "install libmumps-seq-dev and "));
}

/// Answers --near, --interval and --count, all ranks together; the vectors found, ascending.
template <class Scalar, class Exec>
Block<Scalar, Exec> solve_exact(Exec const& exec, EigCommand const& command,
                                DistributedMatrix<Scalar, Exec> const& A,
                                DistributedMatrix<Scalar, Exec> const* M, ProgressLine& progress,
                                EigResult& result) {
  Block<Scalar, Exec> X;
  if constexpr (has_direct) {
    auto const& exact = command.exact;
    auto options = exact_options(command);
    options.monitor = exact_monitor(progress);
    options.resume = input_of_first(A.row_space().communicator(), options.resume);
    if (exact.kind == ExactRequest::Kind::count) {
      result.count = count_eigenvalues(exec, A, M, exact.from, exact.to, options);
      result.solver.status = result.count->trusted ? Status::converged : Status::not_converged;
      result.solver.path = "exact";
      result.solver.path_reason = factors_of_pencil;
      result.solver.trouble = result.count->trouble;
      result.notes = std::move(result.count->notes);
      return X;
    }
    if (exact.kind == ExactRequest::Kind::near) {
      X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::eigenvectors", A.local_rows(),
                                              command.pairs);
      result.exact = eigenpairs_near(exec, A, M, exact.from, X, options);
    } else {
      result.exact = eigenpairs_in(exec, A, M, exact.from, exact.to, X, options);
    }
    take_exact_pairs(result);
    auto const& notes = result.exact->notes;
    result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  }
  return X;
}

/// Counts what lies below the last pair of a certified solve for the smallest ones, by
/// factorizations. All ranks together.
template <class Scalar, class Exec>
void certify_count(Exec const& exec, EigCommand const& command,
                   DistributedMatrix<Scalar, Exec> const& A,
                   DistributedMatrix<Scalar, Exec> const* M, double next, EigResult& result) {
  if constexpr (has_direct) {
    if (!counts_pairs(command) || !result.converged || result.solver.eigenvalues.empty()) return;
    double const place = place_above(result, next);
    try {
      result.count = count_eigenvalues(exec, A, M, -std::numeric_limits<double>::infinity(), place,
                                       {.factors = exact_options(command).factors});
      judge_count(result, place, next);
    } catch (Error const& error) {
      if (!A.row_space().communicator().all_threw(error)) throw;
      result.notes.push_back(std::string("whether a pair is missing was not counted: ") +
                             error.what());
    }
  }
}

}  // namespace blockspan::apps
