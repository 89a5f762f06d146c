#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <blockspan/operators/diagonal.hpp>

#include "blockspan-eig/exact_impl.hpp"

namespace blockspan::apps {

/// The quotient of the largest and the smallest K_ii / M_ii that is not zero.
template <class Exec, class Matrix>
double spread_of_diagonal(Exec const& exec, Matrix const& K, Matrix const* M) {
  auto const on_host = [&](Matrix const& A) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), diagonal(exec, A));
  };
  auto const k = on_host(K);
  std::decay_t<decltype(k)> m;
  if (M != nullptr) m = on_host(*M);
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t i = 0; i < k.extent(0); ++i) {
    double const quotient = Kokkos::abs(k(i)) / (M != nullptr ? Kokkos::abs(m(i)) : 1);
    if (!(quotient > 0) || !std::isfinite(quotient)) continue;
    least = std::min(least, quotient), most = std::max(most, quotient);
  }
  return most > 0 ? most / least : 1;
}

/// Finds the smallest pairs by factors, where --path auto takes these: in solver and exact of the
/// result as --near does, path_reason says why. Nothing where the iteration serves, or factors do
/// not: the command asks for what they have not, they cost more, or eigenvalues lie below the
/// shift.
template <class Scalar, class Exec, class Matrix>
std::optional<Block<Scalar, Exec>> lowest_by_factors(Exec const& exec, EigCommand const& command,
                                                     Matrix const& A, Matrix const* M,
                                                     ProgressLine& progress, EigResult& result) {
  if constexpr (has_direct) {
    if (!may_take_factors(command, A.numRows())) return {};
    std::string const why = for_factors(command, spread_of_diagonal(exec, A, M));
    if (why.empty()) return {};
    progress.stage("analysing the pattern");
    try {
      auto options = exact_options(command);
      options.tolerance = std::min(options.tolerance, 1e-11);
      options.monitor = exact_monitor(progress);
      exact::Problem<Exec, Matrix> const problem(exec, A, M, options);
      std::string const cost = cost_of_factors(command, *problem.factors, A.nnz());
      if (cost.empty()) return {};
      auto const X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::eigenvectors",
                                                         A.numRows(), command.pairs);
      auto report = exact::near<Scalar, Exec>(exec, *problem.K, problem.mass(), *problem.factors, 0,
                                              X, options);
      problem.describe(report);
      if (!answers_lowest(command, report)) {
        result.notes.push_back("factors did not answer for the smallest pairs: iterated");
        return {};
      }
      result.exact = std::move(report);
      take_exact_pairs(result);
      result.solver.path_reason = why + "; " + cost;
      return X;
    } catch (Error const& error) {
      result.notes.push_back(std::string("not by factors: ") + error.what());
    }
  }
  return {};
}

}  // namespace blockspan::apps
