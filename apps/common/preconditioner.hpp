#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

#include "common/preconditioner_choice.hpp"

namespace blockspan::apps {

/// A preconditioner, and what the user should know of it.
template <class Scalar, class Exec>
struct Preconditioner {
  std::unique_ptr<LinearOperator<Scalar, Exec>> op;  ///< null: none
  std::vector<std::string> notes;
};

/// What a matrix must be for the problem at hand.
enum class Definiteness {
  any,      ///< an eigenproblem: the preconditioner is made positive definite whatever A is
  positive  ///< a linear system: block-jacobi refuses an A that is not positive definite
};

namespace detail {

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_jacobi(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  return {std::make_unique<JacobiPreconditioner<Scalar, Exec>>(jacobi(exec, A)), {}};
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_block_jacobi(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                               int block_size, Definiteness definiteness) {
  auto T = std::make_unique<BlockJacobiPreconditioner<Scalar, Exec>>(
      exec, A, BlockJacobiOptions{block_size, definiteness == Definiteness::any});
  Preconditioner<Scalar, Exec> result;
  if (T->block_size() == 1)
    result.notes.push_back(
        "block-jacobi found no groups of rows with equal columns in the pattern, so that its "
        "blocks are single rows; block-jacobi:ROWS gives the size");
  if (T->indefinite_blocks() > 0)
    result.notes.push_back(std::to_string(T->indefinite_blocks()) +
                           " of the blocks of block-jacobi are not positive definite; their "
                           "modulus stands in for them");
  result.op = std::move(T);
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_chebyshev(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                            LinearOperator<Scalar, Exec> const& product,
                                            ChebyshevOptions const& options) {
  auto const setup = chebyshev_setup(exec, product, A, options);
  if (setup.usable())
    return {
        std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(product, setup, options)),
        {}};
  auto result = make_jacobi<Scalar>(exec, A);
  result.notes.push_back("jacobi instead of chebyshev: " + setup.fault);
  return result;
}

}  // namespace detail

/// The preconditioner of A. product: A as an operator, which chebyshev keeps by reference. Throws
/// Error as block_jacobi does.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_preconditioner(Exec const& exec,
                                                 PreconditionerChoice const& choice,
                                                 CrsMatrix<Scalar, Exec> const& A,
                                                 LinearOperator<Scalar, Exec> const& product,
                                                 Definiteness definiteness) {
  switch (choice.kind) {
    case PreconditionerChoice::Kind::none:
      break;
    case PreconditionerChoice::Kind::jacobi:
      return detail::make_jacobi<Scalar>(exec, A);
    case PreconditionerChoice::Kind::block_jacobi:
      return detail::make_block_jacobi<Scalar>(exec, A, choice.block_size, definiteness);
    case PreconditionerChoice::Kind::chebyshev:
      return detail::make_chebyshev<Scalar>(exec, A, product,
                                            {.degree = choice.degree, .ratio = choice.ratio});
  }
  return {};
}

}  // namespace blockspan::apps
