#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/out_of_memory.hpp>

#include "common/files/words.hpp"
#include "common/machine/components.hpp"
#include "common/problem/preconditioner_choice.hpp"

namespace blockspan::apps {

/// A preconditioner, and what the user should know of it.
template <class Scalar, class Exec>
struct Preconditioner {
  std::unique_ptr<LinearOperator<Scalar, Exec>> op;  ///< null: none
  std::vector<std::string> notes;
  std::optional<MultigridReport> levels = {};
  bool automatic = false;  ///< another may follow: see ChangeOver
  /// What helps where a solver finds it not positive definite; empty, or false: nothing.
  std::function<bool(Preconditioner&)> mend = {};
};

/// What a matrix must be for the problem at hand.
enum class Definiteness {
  any,      ///< an eigenproblem: the preconditioner is made positive definite whatever A is
  positive  ///< a linear system: a diagonal entry or block that proves it is not is refused
};

namespace detail {

template <class Scalar, class Exec>
Communicator ranks_of_rows(DistributedMatrix<Scalar, Exec> const& A) {
  return A.row_space().communicator();
}
template <class Scalar, class Exec>
bool on_one_rank(DistributedMatrix<Scalar, Exec> const& A) {
  return A.partition().ranks() == 1;
}

/// Throws Error, on all ranks, with the first row whose diagonal entry is negative or not finite: A
/// is then not positive semidefinite, and Jacobi means nothing. Of a zero the solver finds out: an
/// empty row (a point of a graph without edges) does no harm.
template <class Scalar, class Exec>
void require_diagonal(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A) {
  ranks_of_rows(A).run_agreed([&] {
    auto const d = A.diagonal(exec);
    for (std::size_t i = 0; i < d.size(); ++i)
      require(d[i] >= 0 && std::isfinite(d[i]), "--preconditioner", "the diagonal entry of row ",
              A.row_space().first_row() + static_cast<std::int64_t>(i) + 1, " is ", d[i],
              ", so the matrix is not positive definite");
  });
}

template <class Scalar, class Exec>
auto jacobi_factors(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A) {
  return ranks_of_rows(A).run_agreed(
      [&] { return jacobi(exec, A.diagonal_block(exec)).factors(); });
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_jacobi(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                                         Definiteness definiteness) {
  if (definiteness == Definiteness::positive) require_diagonal(exec, A);
  return {std::make_unique<JacobiPreconditioner<Scalar, Exec>>(jacobi_factors(exec, A)), {}};
}

/// The same in place of what could not be made.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_jacobi_instead(Exec const& exec,
                                                 DistributedMatrix<Scalar, Exec> const& A,
                                                 Definiteness definiteness,
                                                 std::string const& asked,
                                                 std::string const& reason) {
  auto result = make_jacobi<Scalar>(exec, A, definiteness);
  result.notes.push_back("jacobi instead of " + asked + ": " + reason);
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_block_jacobi(Exec const& exec,
                                               DistributedMatrix<Scalar, Exec> const& A,
                                               int block_size, Definiteness definiteness) {
  auto T = ranks_of_rows(A).run_agreed([&] {
    return std::make_unique<BlockJacobiPreconditioner<Scalar, Exec>>(
        exec, A.diagonal_block(exec),
        BlockJacobiOptions{block_size, definiteness == Definiteness::any});
  });
  Preconditioner<Scalar, Exec> result;
  if (T->block_size() == 1)
    result.notes.push_back(
        "block-jacobi found no dense tiles in the pattern, so that its "
        "blocks are single rows; block-jacobi:ROWS gives the size");
  if (T->indefinite_blocks() > 0)
    result.notes.push_back(std::to_string(T->indefinite_blocks()) +
                           " of the blocks of block-jacobi are not positive definite; their "
                           "modulus is used instead");
  result.op = std::move(T);
  return result;
}

/// One rank looks at the row sums of its matrix too.
template <class Scalar, class Exec>
ChebyshevSetup<Scalar, Exec> chebyshev_setup_of(Exec const& exec,
                                                DistributedMatrix<Scalar, Exec> const& A,
                                                LinearOperator<Scalar, Exec> const& product,
                                                ChebyshevOptions const& options,
                                                Definiteness definiteness) {
  if (on_one_rank(A)) return chebyshev_setup(exec, product, A.whole(), options);
  if (definiteness == Definiteness::positive) require_diagonal(exec, A);
  return chebyshev_setup<Scalar, Exec>(exec, product, jacobi_factors(exec, A), options);
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_chebyshev(Exec const& exec,
                                            DistributedMatrix<Scalar, Exec> const& A,
                                            LinearOperator<Scalar, Exec> const& product,
                                            ChebyshevOptions const& options,
                                            Definiteness definiteness) {
  auto const setup = chebyshev_setup_of(exec, A, product, options, definiteness);
  if (setup.usable())
    return {
        std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(product, setup, options)),
        {}};
  return make_jacobi_instead<Scalar>(exec, A, definiteness, "chebyshev", setup.fault);
}

/// On one rank. Throws Error where the matrix is found not to be positive definite, and must be.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_gauss_seidel(Exec const& exec,
                                               DistributedMatrix<Scalar, Exec> const& A,
                                               Definiteness definiteness) {
  if constexpr (has_kokkos_kernels) {
    try {
      return {gauss_seidel<Scalar, Exec>(exec, A.whole()), {}};
    } catch (Error const& error) {
      if (definiteness == Definiteness::positive) throw;
      return make_jacobi_instead<Scalar>(exec, A, definiteness, "gauss-seidel",
                                         without_cpp_names(error.what()));
    }
  }
  return {};
}

/// On one rank. mass: of an eigenproblem, null for the identity.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_direct(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                                         DistributedMatrix<Scalar, Exec> const* mass,
                                         Definiteness definiteness) {
  if constexpr (has_direct) {
    bool const positive = definiteness == Definiteness::positive;
    try {
      auto T = std::make_unique<DirectSolver<Scalar, Exec>>(direct(
          exec, A.whole(), {.use = positive ? DirectUse::definite : DirectUse::preconditioner},
          mass ? &mass->whole() : nullptr));
      auto notes = T->report().notes();
      return {std::move(T), std::move(notes)};
    } catch (OutOfMemory const&) {
      throw;
    } catch (Error const& error) {
      if (positive) throw;
      return make_jacobi_instead<Scalar>(exec, A, definiteness, "direct",
                                         without_cpp_names(error.what()));
    }
  }
  return {};
}

}  // namespace detail

}  // namespace blockspan::apps
