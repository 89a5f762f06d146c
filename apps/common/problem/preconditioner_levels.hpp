#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/multigrid/exchange.hpp>
#include <blockspan/multigrid/multigrid.hpp>

#include "common/problem/preconditioner_parts.hpp"
#include "common/ranks/spread_rows.hpp"

namespace blockspan::apps {

namespace detail {

template <class Scalar, class Exec>
MultigridOptions<Scalar, Exec> multigrid_options(Exec const& exec,
                                                 DistributedMatrix<Scalar, Exec> const& A,
                                                 PreconditionerChoice const& choice) {
  auto const& inputs = choice.inputs;
  MultigridOptions<Scalar, Exec> options;
  options.near_null = load_rows<Scalar>(exec, SpreadRows{A.row_space(), nullptr}, inputs.near_null);
  options.coordinates =
      load_nodes<real_t<Scalar>>(exec, A.partition(), ranks_of_rows(A), inputs.coordinates);
  options.block_size = inputs.block_size;
  options.adaptive = inputs.adaptive;
  if (!inputs.hierarchy.empty())
    options.prolongators = read_prolongators<Scalar>(exec, inputs.hierarchy);
  options.degree = choice.degree;
  options.columns = choice.columns;
  return options;
}

/// M, a Multigrid or DistributedMultigrid of A; jacobi where its report says that it does not suit.
template <class Scalar, class Exec, class Levels>
Preconditioner<Scalar, Exec> unless_unusable(Exec const& exec,
                                             DistributedMatrix<Scalar, Exec> const& A,
                                             Definiteness definiteness, std::unique_ptr<Levels> M) {
  auto report = M->report();
  report.message = without_cpp_names(report.message);
  if (!report.usable())
    return make_jacobi_instead<Scalar>(exec, A, definiteness, "multigrid", report.message);
  Preconditioner<Scalar, Exec> result;
  result.notes = report.notes;
  if (!report.message.empty()) result.notes.push_back("multigrid: " + report.message);
  result.levels = report;
  result.op = std::move(M);
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_multigrid_on_one_rank(
    Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
    MultigridOptions<Scalar, Exec> const& options, std::string const& folder,
    Definiteness definiteness) {
  options.validate(A.whole().numRows());  // what the user said is refused, whatever the matrix is
  std::unique_ptr<Multigrid<Scalar, Exec>> M;
  try {
    M = std::make_unique<Multigrid<Scalar, Exec>>(exec, A.whole(), options);
  } catch (Error const& error) {
    if (definiteness == Definiteness::positive) throw;
    return make_jacobi_instead<Scalar>(exec, A, definiteness, "multigrid",
                                       without_cpp_names(error.what()));
  }
  auto& multigrid = *M;
  auto result = unless_unusable(exec, A, definiteness, std::move(M));
  if (!result.levels) return result;
  if (!folder.empty()) {
    auto const found = hierarchy_differences(exec, folder, multigrid);
    auto const place = static_cast<std::ptrdiff_t>(result.levels->notes.size());
    result.notes.insert(result.notes.begin() + place, found.begin(), found.end());
  }
  result.mend = [exec, &multigrid](auto& self) {
    if (!multigrid.use_working_precision(exec)) return false;
    self.levels = multigrid.report();
    self.notes.push_back(multigrid.report().notes.back());
    return true;
  };
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_multigrid(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    PreconditionerChoice const& choice, Definiteness definiteness) {
  auto const options = multigrid_options(exec, *A, choice);
  if (on_one_rank(*A))
    return make_multigrid_on_one_rank(exec, *A, options, choice.inputs.hierarchy, definiteness);
  if (definiteness == Definiteness::positive) require_diagonal(exec, *A);
  if constexpr (sizeof(real_t<Scalar>) == sizeof(double))
    return unless_unusable(exec, *A, definiteness,
                           std::make_unique<DistributedMultigrid<Scalar, Exec>>(exec, A, options));
  return {};
}

/// Multigrid as `automatic` tries it: levels, whatever its probe says of it, or no op and the
/// reason among the notes.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_late_levels(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    PreconditionerChoice choice) {
  choice.degree = 2;
  auto result = make_multigrid<Scalar>(exec, A, choice, Definiteness::any);
  if (!result.levels) result.op.reset();
  return result;
}

/// A hierarchy of one level: the dense inverse. On one rank.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_inverse(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    PreconditionerChoice const& choice, Definiteness definiteness) {
  MultigridOptions<Scalar, Exec> options;
  options.coarse_rows = static_cast<int>(std::max<std::int64_t>(A->local_rows(), 1));
  options.columns = choice.columns;
  return make_multigrid_on_one_rank(exec, *A, options, "", definiteness);
}

}  // namespace detail

}  // namespace blockspan::apps
