#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/peer_product.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

/// A square matrix as an operator with the product of another library.
template <class Scalar, class Exec>
class PeerOperator final : public LinearOperator<Scalar, Exec>, public EntryAccess<Scalar, Exec> {
 public:
  using Matrix = CrsMatrix<Scalar, Exec>;

  PeerOperator(char const* where, std::string name, Exec const& exec, Matrix A,
               std::unique_ptr<PeerProduct<Scalar, Exec>> product)
      : name_(std::move(name)), matrix_(std::move(A)), product_(std::move(product)) {
    require(matrix_.numRows() == matrix_.numCols(), where, "the matrix must be square (",
            matrix_.numRows(), " x ", matrix_.numCols(), ")");
    norm_bound_ = max_row_sum(exec, matrix_ref<Exec>(matrix_));
  }

  std::int64_t rows() const override { return matrix_.numRows(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    product_->multiply(exec, X, Y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = name_, .norm_bound = norm_bound_, .entries = this};
  }

  bool annihilates_constants(Exec const& exec) const override {
    return rows_sum_to_zero(exec, matrix_ref<Exec>(matrix_));
  }

  Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const override {
    return null_vectors_of(exec, matrix_ref<Exec>(matrix_), work);
  }

 private:
  std::string name_;
  Matrix matrix_;
  real_t<Scalar> norm_bound_ = 0;
  std::unique_ptr<PeerProduct<Scalar, Exec>> product_;
};

}  // namespace blockspan::operators
