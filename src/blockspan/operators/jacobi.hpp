#pragma once

#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// Y = |D|^-1 X with D the diagonal of a matrix: Hermitian positive definite for any D. A row whose
/// diagonal entry is zero or missing gets the largest weight of the other rows, which scales with
/// A: in eigenvectors of small eigenvalues that row is not neglected. Jacobi 1845. A product reads
/// X and n weights, and writes Y.
template <class Scalar, class Exec>
class JacobiPreconditioner final : public LinearOperator<Scalar, Exec> {
 public:
  /// factors: 1 / |d_i|, in memory of `Exec`.
  using Factors = Kokkos::View<real_t<Scalar>*, typename Exec::memory_space>;
  explicit JacobiPreconditioner(Factors factors) : factors_(std::move(factors)) {}

  std::int64_t rows() const override { return static_cast<std::int64_t>(factors_.extent(0)); }

  /// Throws Error if X or Y is not n x k.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    auto const x = blocks::block_ref<Exec>(X);
    auto const y = blocks::block_ref<Exec>(Y);
    operators::require_blocks("blockspan::JacobiPreconditioner", rows(), x, y);
    operators::scale_rows<Exec, Scalar>(exec, factors_.data(), x, y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    using Weights = OperatorValues<real_t<Scalar> const, Exec>;
    return {.name = "jacobi",
            .replayable = true,
            .row_weights = Weights(factors_.data(), factors_.extent(0))};
  }

  Factors const& factors() const { return factors_; }

 private:
  Factors factors_;
};

/// The Jacobi preconditioner of A. Fences the instance. O(nonzeros). Throws Error if A is not
/// square, or where memory is short. all: if A is the diagonal block of the rows of a rank, the
/// communicator of all ranks, which call together.
template <class Exec, class Matrix>
JacobiPreconditioner<sparse::scalar_t<Matrix>, Exec> jacobi(Exec const& exec, Matrix const& A,
                                                            Communicator const& all = {}) {
  products::require_compiled_product<Exec, sparse::scalar_t<Matrix>, sparse::offset_t<Matrix>,
                                     sparse::ordinal_t<Matrix>>();
  using Scalar = sparse::scalar_t<Matrix>;
  auto factors = all.run_agreed([&] {
    require(A.numRows() == A.numCols(), "blockspan::jacobi", "the matrix must be square (",
            A.numRows(), " x ", A.numCols(), ")");
    return operators::inverse_magnitudes(exec, sparse::matrix_ref<Exec>(A));
  });
  operators::weigh_zero_diagonals<Exec, Scalar>(exec, A.numRows(), factors.data(), all);
  return JacobiPreconditioner<Scalar, Exec>(std::move(factors));
}

}  // namespace blockspan
