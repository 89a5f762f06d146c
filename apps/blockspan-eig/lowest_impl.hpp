#pragma once

#include <optional>
#include <utility>

#include <blockspan/solvers/lowest_pairs.hpp>

#include "blockspan-eig/exact_impl.hpp"
#include "common/files/words.hpp"

namespace blockspan::apps {

/// Finds the smallest pairs by factors, where --path auto takes these: in solver and exact of the
/// result as --near does, path_reason says why. Nothing where the iteration serves, or factors do
/// not: the command asks for what they have not, they cost more, or eigenvalues lie below the
/// shift.
template <class Scalar, class Exec>
std::optional<Block<Scalar, Exec>> lowest_by_factors(Exec const& exec, EigCommand const& command,
                                                     DistributedMatrix<Scalar, Exec> const& A,
                                                     DistributedMatrix<Scalar, Exec> const* M,
                                                     ProgressLine& progress, EigResult& result) {
  if constexpr (has_direct) {
    if (!may_take_factors(command)) return {};
    auto options = exact_options(command);
    options.monitor = exact_monitor(progress);
    auto found = lowest_pairs_by_factors(
        exec, A, M, {command.pairs, command.tolerance, command.digits}, std::move(options));
    if (!found.note.empty()) result.notes.push_back(found.note);
    if (!found.report) return {};
    result.exact = std::move(found.report);
    take_exact_pairs(result, found.reason);
    return found.X;
  }
  return {};
}

}  // namespace blockspan::apps
