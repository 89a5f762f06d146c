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
                                            Definiteness definiteness, int columns) {
  auto const kind = kind_of(definiteness);
  bool const system = kind == SolveKind::system;
  auto result = make_jacobi<Scalar>(exec, A, definiteness);
  std::int64_t const rows = A.partition().global_rows();
  // Without rounding errors conjugate gradients end after one step a row: where
  // they are not even half way then, the matrix is too ill-conditioned for them.
  if (system && on_one_rank(A))
    result.late_iterations = static_cast<int>(std::clamp<std::int64_t>(rows, 100, 1 << 30));
  if (rows < automatic_least_rows) return result;
  if (!system) {
    ChebyshevOptions const options{.degree = 8, .ratio = 100};
    auto const setup = chebyshev_setup_of(exec, A, product, options, definiteness);
    if (!setup.usable()) return result;
    result.op =
        std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(product, setup, options));
  }
  result.late_setup = multigrid_setup_iterations(kind, columns);
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
    bool const system = kind_of(definiteness) == SolveKind::system;
    // factors of e entries take some e^2 / rows multiplications
    constexpr double vectors = 10, bytes_of_entry = 16, least_bytes = 1 << 24, most_bytes = 1e15;
    double const rows = static_cast<double>(A.partition().global_rows()), products = system ? 1 : 8,
                 step = columns * (products * static_cast<double>(A.nonzeros()) +
                                   (products + columns - 1) * vectors * rows),
                 bytes = bytes_of_entry * std::sqrt(rows * step * left);
    DirectOptions options{.use = system ? DirectUse::definite : DirectUse::preconditioner};
    if (bytes < most_bytes)
      options.memory_limit = static_cast<std::int64_t>(std::max(bytes, least_bytes));
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

/// `late` in place of M, if there is one, after so many iterations.
template <class Scalar, class Exec>
void take_over(Preconditioner<Scalar, Exec> late, int iterations, Preconditioner<Scalar, Exec>& M,
               std::string const& name) {
  auto const after = " after " + std::to_string(iterations) + " iterations with " + M.op->name();
  M.notes.insert(M.notes.end(), late.notes.begin(), late.notes.end());
  M.notes.push_back(name + (late.op ? " took over" : " was tried") + after);
  if (!late.op) return;
  M.late_setup = M.late_iterations = std::numeric_limits<int>::max();
  M.op = std::move(late.op);
  M.levels = late.levels;
  M.mend = late.mend;
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

/// What may follow where `automatic` is slow: multigrid that finds itself good, else factors, else
/// multigrid that still takes less than what is left; where that was not enough, factors, or the
/// inverse of a matrix of few rows. It replaces M, and the reason is noted. A: the matrix of M;
/// late: what saw that it is time. All ranks together. Waits for the instance.
template <class Scalar, class Exec>
void switch_late(Exec const& exec, PreconditionerChoice const& choice,
                 std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A, int iterations,
                 LateSwitch const& late, Definiteness definiteness, Preconditioner<Scalar, Exec>& M,
                 DistributedMatrix<Scalar, Exec> const* mass = nullptr) {
  constexpr int never = std::numeric_limits<int>::max();
  constexpr std::int64_t few_rows = 4000;
  if (std::exchange(M.late_setup, never) < never) {
    auto levels = detail::make_late_levels<Scalar>(exec, A, choice);
    if (levels.op && levels.levels->strong())
      return detail::take_over(std::move(levels), iterations, M, "multigrid");
    auto factors = detail::make_late_factors<Scalar>(exec, *A, mass, definiteness, choice.columns,
                                                     late.left());
    if (factors.op) return detail::take_over(std::move(factors), iterations, M, "direct");
    if (levels.op &&
        !weak_multigrid_pays(*levels.levels, detail::kind_of(definiteness), late.left())) {
      levels.notes = {"multigrid is " + std::string(to_string(levels.levels->status)) + ": " +
                      levels.levels->message};
      levels.op.reset();
    }
    return detail::take_over(std::move(levels), iterations, M, "multigrid");
  }
  M.late_iterations = never;
  if (has_direct)
    detail::take_over(
        detail::make_late_factors<Scalar>(exec, *A, mass, definiteness, choice.columns,
                                          std::numeric_limits<double>::infinity()),
        iterations, M, "direct");
  else if (A->partition().global_rows() <= few_rows)
    detail::take_over(detail::make_inverse<Scalar>(exec, A, choice, definiteness), iterations, M,
                      "the inverse");
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
      return detail::make_automatic<Scalar>(exec, *A, product, definiteness, choice.columns);
  }
  return {};
}

}  // namespace blockspan::apps
