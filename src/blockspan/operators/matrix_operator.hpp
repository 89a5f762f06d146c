#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

namespace operators {

/// Whether a copy of that many entries fits into half of the free memory; on hosts, of this rank's
/// share of the free memory.
template <class Scalar, class Exec>
bool have_room_in_slices(std::int64_t entries, int ranks = 1) {
  std::int64_t const free =
      support::free_bytes<Exec>() / (support::runs_on_host_v<Exec> ? ranks : 1);
  return free <= 0 || entries * static_cast<std::int64_t>(sizeof(Scalar) + sizeof(int)) <= free / 2;
}

}  // namespace operators

/// A square sparse matrix as an operator: Y = A X by Blockspan's own product with a plan. Holds the
/// matrix (shared, not copied): its values may change between products, its pattern must not.
template <class Scalar, class Exec, class Offset = int>
class MatrixOperator final : public LinearOperator<Scalar, Exec>, public EntryAccess<Scalar, Exec> {
 public:
  using Matrix = CrsMatrix<Scalar, Exec, Offset>;
  using Plan = SpmmPlan<Exec, Offset, int>;

  /// A: n x n. options: of the plan; options.columns is the expected widest block. Inspects the
  /// pattern, computes bounds of the norm and of the eigenvalues in one pass, and fences the
  /// instance. O(nonzeros). Throws Error if A is not square or an option is out of range, or where
  /// memory is short.
  MatrixOperator(Exec const& exec, Matrix A, SpmmPlanOptions const& options)
      : matrix_(std::move(A)), plan_(exec, matrix_, options) {
    require(matrix_.numRows() == matrix_.numCols(), "blockspan::MatrixOperator",
            "the matrix must be square (", matrix_.numRows(), " x ", matrix_.numCols(), ")");
    bounds_ = operators::row_bounds(exec, sparse::matrix_ref<Exec>(matrix_));
  }

  std::int64_t rows() const override { return matrix_.numRows(); }

  /// Throws Error if X or Y is not n x k, as spmm does.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    spmm(exec, plan_, Op::none, Scalar(1), matrix_, X, Scalar(0), Y);
  }

  /// On devices only; on hosts it is not faster.
  bool apply_dots(Exec const& exec, ConstBlock<Scalar, Exec> const& X, Block<Scalar, Exec> const& Y,
                  OperatorValues<real_t<Scalar> const, Exec> const& weights,
                  OperatorValues<Scalar, Exec> const& x_dot_y,
                  OperatorValues<real_t<Scalar>, Exec> const& y_dot_y) const override {
    if constexpr (!support::runs_on_host_v<Exec>)
      spmm_dots(exec, plan_, Scalar(1), matrix_, X, Scalar(0), Y, x_dot_y, y_dot_y, weights);
    return !support::runs_on_host_v<Exec>;
  }

  bool apply_step(Exec const& exec, ConstBlock<Scalar, Exec> const& Z,
                  OperatorStep<Scalar, Exec> const& step,
                  Block<Scalar, Exec> const& Y) const override {
    return products::multiply_with_step<Exec, Scalar>(
        exec, plan_.panels(), sparse::planned_matrix_ref<Exec>(matrix_), blocks::block_ref<Exec>(Z),
        {step.add_z, step.add_y, step.momentum, step.factor, step.weights.data(),
         blocks::block_ref<Exec>(step.R), blocks::block_ref<Exec>(Z)},
        blocks::block_ref<Exec>(Y));
  }

  /// The bounds (the inf-norm rounded up, and Gershgorin's) are those of the values at
  /// construction.
  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "matrix",
            .norm_bound = bounds_.norm,
            .eigenvalue_lower_bound = bounds_.lowest,
            .terms_per_row = plan_.statistics().longest,
            .work = static_cast<std::int64_t>(matrix_.nnz()),
            .replayable = true,
            .entries = this};
  }

  /// This operator with the bounds of the current values; the plan is shared. One pass over the
  /// matrix; fences the instance.
  MatrixOperator with_current_bounds(Exec const& exec) const {
    MatrixOperator copy(*this);
    copy.bounds_ = operators::row_bounds(exec, sparse::matrix_ref<Exec>(matrix_));
    return copy;
  }

  std::shared_ptr<LinearOperator<Scalar, Exec> const> for_many_products(
      Exec const& exec) const override {
    return in_slices(exec);
  }
  /// This operator with its current values in slices (SpmmPlan::hold_slices); null if no product
  /// uses them, this one already has them, or they need more than half of the free memory.
  std::shared_ptr<MatrixOperator const> in_slices(Exec const& exec) const {
    auto const entries = static_cast<std::int64_t>(matrix_.nnz());
    if (has_slices_ || !operators::have_room_in_slices<Scalar, Exec>(entries)) return nullptr;
    auto copy = std::make_shared<MatrixOperator>(*this);
    copy->plan_ = plan_.without_copies();
    try {
      if (!copy->plan_.hold_slices(exec, matrix_)) return nullptr;
    } catch (Error const&) {
      return nullptr;
    }
    copy->has_slices_ = true;
    return copy;
  }

  /// One pass over the matrix.
  bool annihilates_constants(Exec const& exec) const override {
    return operators::rows_sum_to_zero(exec, sparse::matrix_ref<Exec>(matrix_));
  }

  Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const override {
    return operators::null_vectors_of(exec, sparse::matrix_ref<Exec>(matrix_), work);
  }

  bool apply_magnitudes(Exec const& exec, OperatorValues<real_t<Scalar> const, Exec> const& x,
                        OperatorValues<real_t<Scalar>, Exec> const& y) const override {
    operators::multiply_magnitudes(exec, sparse::matrix_ref<Exec>(matrix_), x.data(), y.data());
    return true;
  }

  bool subtract_accurately(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                           Block<Scalar, Exec> const& R) const override {
    operators::subtract_product(exec, sparse::matrix_ref<Exec>(matrix_), blocks::block_ref<Exec>(X),
                                blocks::block_ref<Exec>(R));
    return true;
  }

  std::vector<real_t<Scalar>> diagonal(Exec const& exec) const override {
    return operators::real_diagonal(exec, sparse::matrix_ref<Exec>(matrix_));
  }

  Matrix const& matrix() const { return matrix_; }
  Plan const& plan() const { return plan_; }

 private:
  Matrix matrix_;
  Plan plan_;
  operators::RowBounds<real_t<Scalar>> bounds_;
  bool has_slices_ = false;
};

/// A as an operator, for blocks of about `columns` columns or fewer (wider ones are allowed).
/// Fences the instance and throws Error as the constructor.
template <class Exec, class Matrix>
MatrixOperator<sparse::scalar_t<Matrix>, Exec, sparse::offset_t<Matrix>> matrix_operator(
    Exec const& exec, Matrix const& A, int columns = 16) {
  return {exec, A, SpmmPlanOptions{.columns = columns}};
}

}  // namespace blockspan
