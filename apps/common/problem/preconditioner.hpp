#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/problem/preconditioner_levels.hpp"
#include "common/problem/preconditioner_parts.hpp"

namespace blockspan::apps {

namespace detail {

/// `late` in place of M, if there is one, after so many iterations.
template <class Scalar, class Exec>
void take_over(Preconditioner<Scalar, Exec> late, int iterations, Preconditioner<Scalar, Exec>& M,
               std::string const& name = "multigrid") {
  auto const after = " after " + std::to_string(iterations) + " iterations with " + M.op->name();
  M.late_setup = std::numeric_limits<int>::max();
  M.late_iterations = std::numeric_limits<int>::max();
  M.notes = late.notes;
  M.notes.push_back(name + (late.op ? " took over" : " was tried") + after);
  if (!late.op) return;
  M.op = std::move(late.op);
  M.levels = late.levels;
  M.mend = late.mend;
}

/// What `automatic` starts with where multigrid is not advised at once, or not good: jacobi for
/// systems, chebyshev for eigenpairs. late: what may follow.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_plain(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                                        LinearOperator<Scalar, Exec> const& product,
                                        ChebyshevSetup<Scalar, Exec> const& setup,
                                        ChebyshevOptions const& options, Definiteness definiteness,
                                        MultigridAdvice::When late, int columns) {
  using When = MultigridAdvice::When;
  bool const system = definiteness == Definiteness::positive;
  auto result = make_jacobi<Scalar>(exec, A, definiteness);
  if (!system)
    result.op =
        std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(product, setup, options));
  if (late == When::late) result.late_setup = multigrid_setup_iterations(columns);
  // Without rounding errors conjugate gradients end after one step a row: where
  // they are not even half way then, the matrix is too ill-conditioned for them.
  if (late == When::never && system && on_one_rank(A))
    result.late_iterations = std::max(static_cast<int>(A.local_rows()), 100);
  return result;
}

/// Multigrid where it is advised and good, else what is plain.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_automatic(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    LinearOperator<Scalar, Exec> const& product, PreconditionerChoice const& choice,
    Definiteness definiteness) {
  using When = MultigridAdvice::When;
  bool const system = definiteness == Definiteness::positive;
  ChebyshevOptions const options{.degree = choice.degree, .ratio = choice.ratio};
  auto const setup = chebyshev_setup_of(exec, *A, product, options, definiteness);
  if (!setup.usable())
    return make_jacobi_instead<Scalar>(exec, *A, definiteness, "chebyshev and multigrid",
                                       setup.fault);
  double const smallest = setup.estimate.smallest;
  double const condition =
      smallest > 0 ? setup.estimate.largest / smallest : std::numeric_limits<double>::infinity();
  auto const advice = advise_multigrid(
      A->partition().global_rows(), system ? SolveKind::system : SolveKind::eigenpairs, condition);
  std::vector<std::string> notes{(system ? "jacobi: " : "chebyshev: ") + advice.reason};
  if (advice.when == When::at_once) {
    auto result = make_good_multigrid<Scalar>(exec, A, choice);
    if (result.op) {
      result.notes.insert(result.notes.begin(), "multigrid: " + advice.reason);
      return result;
    }
    notes = result.notes;
  }
  auto result =
      make_plain(exec, *A, product, setup, options, definiteness, advice.when, choice.columns);
  result.notes = notes;
  return result;
}

/// Factors of a matrix of few rows on one rank, or multigrid where these are not linked; no op, and
/// the reason among the notes, where there are none.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_late(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    PreconditionerChoice const& choice, double left) {
  if constexpr (has_direct) {
    try {
      return make_direct<Scalar, Exec>(exec, *A, nullptr, Definiteness::positive);
    } catch (Error const& error) {
      return {nullptr, {without_cpp_names(error.what())}};
    }
  }
  return make_good_multigrid<Scalar>(exec, A, choice, left);
}

/// Throws Error, on all ranks, for what several of them do not have.
template <class Scalar>
void require_on_ranks(PreconditionerChoice const& choice) {
  using Kind = PreconditionerChoice::Kind;
  auto const where = "--preconditioner " + choice.asked;
  bool const levels = choice.kind == Kind::multigrid || choice.kind == Kind::automatic;
  require(choice.kind != Kind::gauss_seidel && choice.kind != Kind::direct, where,
          "on several ranks there are none, jacobi, block-jacobi, chebyshev, multigrid and "
          "automatic");
  require(!levels || sizeof(real_t<Scalar>) == sizeof(double), where,
          "with --precision mixed it runs on one rank only");
  require(choice.inputs.hierarchy.empty(), where,
          "levels made elsewhere (--hierarchy) are taken on one rank only");
}

}  // namespace detail

/// What `automatic` said might follow: if it is good, it replaces M, and the reason is noted. A:
/// the matrix of M; left: iterations that M would still take. All ranks together. Waits for the
/// instance.
template <class Scalar, class Exec>
void switch_late(Exec const& exec, PreconditionerChoice const& choice,
                 std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A, int iterations,
                 double left, Preconditioner<Scalar, Exec>& M) {
  if (M.late_iterations < std::numeric_limits<int>::max())
    detail::take_over(detail::make_late<Scalar>(exec, A, choice, left), iterations, M,
                      has_direct ? "direct" : "multigrid");
  else
    detail::take_over(detail::make_good_multigrid<Scalar>(exec, A, choice, left), iterations, M);
}

/// The preconditioner of A. product: A as an operator, which chebyshev keeps by reference; mass: of
/// an eigenproblem, null for the identity, by which direct shifts. All ranks together; those that
/// couple nothing across ranks are made of the rows that each has. Throws Error where A is not as
/// definite as it must be, and for what several ranks do not have. Waits for the instance.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_preconditioner(
    Exec const& exec, PreconditionerChoice const& choice,
    std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    LinearOperator<Scalar, Exec> const& product, Definiteness definiteness,
    DistributedMatrix<Scalar, Exec> const* mass = nullptr) {
  if (!detail::on_one_rank(*A))
    detail::ranks_of_rows(*A).run_agreed([&] { detail::require_on_ranks<Scalar>(choice); });
  switch (choice.kind) {
    case PreconditionerChoice::Kind::none:
      break;
    case PreconditionerChoice::Kind::jacobi:
      return detail::make_jacobi<Scalar>(exec, *A, definiteness);
    case PreconditionerChoice::Kind::block_jacobi:
      return detail::make_block_jacobi<Scalar>(exec, *A, choice.block_size, definiteness);
    case PreconditionerChoice::Kind::chebyshev:
      return detail::make_chebyshev<Scalar>(
          exec, *A, product, {.degree = choice.degree, .ratio = choice.ratio}, definiteness);
    case PreconditionerChoice::Kind::gauss_seidel:
      return detail::make_gauss_seidel<Scalar>(exec, *A, definiteness);
    case PreconditionerChoice::Kind::direct:
      return detail::make_direct<Scalar>(exec, *A, mass, definiteness);
    case PreconditionerChoice::Kind::multigrid:
      return detail::make_multigrid<Scalar>(exec, A, choice, definiteness);
    case PreconditionerChoice::Kind::automatic:
      return detail::make_automatic<Scalar>(exec, A, product, choice, definiteness);
  }
  return {};
}

}  // namespace blockspan::apps
