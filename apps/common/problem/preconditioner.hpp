#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/problem/preconditioner_levels.hpp"
#include "common/problem/preconditioner_parts.hpp"

namespace blockspan::apps {

namespace detail {

inline SolveKind kind_of(Definiteness definiteness) {
  return definiteness == Definiteness::positive ? SolveKind::system : SolveKind::eigenpairs;
}

/// What `automatic` starts with: Jacobi for systems and for what has few rows or a polynomial does
/// not suit, else Chebyshev's, eight products of which cost little beside the vectors of an
/// eigensolver.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_automatic(Exec const& exec,
                                            DistributedMatrix<Scalar, Exec> const& A,
                                            LinearOperator<Scalar, Exec> const& product,
                                            Definiteness definiteness) {
  auto result = make_jacobi<Scalar>(exec, A, definiteness);
  result.automatic = true;
  if (kind_of(definiteness) == SolveKind::system ||
      A.partition().global_rows() < automatic_least_rows)
    return result;
  auto const setup = chebyshev_setup_of(exec, A, product, automatic_polynomial(), definiteness);
  result.automatic = setup.usable();
  if (setup.usable())
    result.op = std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(
        chebyshev(product, setup, automatic_polynomial()));
  return result;
}

/// Factors on one rank, where they are linked and have less work than the plain method's iterations
/// that are left (infinite: whatever they cost); no op, and the reason among the notes, else.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_late_factors(Exec const& exec,
                                               DistributedMatrix<Scalar, Exec> const& A,
                                               DistributedMatrix<Scalar, Exec> const* mass,
                                               Definiteness definiteness, int columns,
                                               double left) {
  if constexpr (has_direct) {
    if (!on_one_rank(A)) return {};
    auto const kind = kind_of(definiteness);
    DirectOptions const options{
        .use = kind == SolveKind::system ? DirectUse::definite : DirectUse::preconditioner,
        .memory_limit =
            factors_worth(kind, A.partition().global_rows(), A.nonzeros(), columns, left)};
    try {
      auto T = std::make_unique<DirectSolver<Scalar, Exec>>(
          direct(exec, A.whole(), options, mass ? &mass->whole() : nullptr));
      auto notes = T->report().notes();
      return {std::move(T), std::move(notes)};
    } catch (Error const& error) {
      return {nullptr, {without_cpp_names(error.what())}};
    }
  }
  return {};
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

/// What watches a solve with M, made of A, for the moment to change over to another.
template <class Scalar, class Exec>
ChangeOver change_over_of(Preconditioner<Scalar, Exec> const& M,
                          DistributedMatrix<Scalar, Exec> const& A, Definiteness definiteness,
                          int columns, double tolerance) {
  if (!M.automatic) return {};
  std::function<GraphShape()> shape;
  if constexpr (support::runs_on_host_v<Exec>)
    if (detail::on_one_rank(A)) shape = [whole = A.whole()] { return graph_shape(whole); };
  return {detail::kind_of(definiteness),
          A.partition().global_rows(),
          columns,
          tolerance,
          detail::on_one_rank(A),
          std::move(shape)};
}

/// Replaces M, or leaves it, as `late` decides. A: the matrix of M. All ranks together. Waits for
/// the instance.
template <class Scalar, class Exec>
void switch_late(Exec const& exec, PreconditionerChoice const& choice,
                 std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A, int iterations,
                 ChangeOver& late, Definiteness definiteness, Preconditioner<Scalar, Exec>& M,
                 DistributedMatrix<Scalar, Exec> const* mass = nullptr) {
  auto const factors = [&](double left) {
    return detail::make_late_factors<Scalar>(exec, *A, mass, definiteness, choice.columns, left);
  };
  late.take(
      iterations, M, [&] { return detail::make_late_levels<Scalar>(exec, A, choice); }, factors,
      [&] { return detail::make_inverse<Scalar>(exec, A, choice, definiteness); });
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
      return detail::make_automatic<Scalar>(exec, *A, product, definiteness);
  }
  return {};
}

}  // namespace blockspan::apps
