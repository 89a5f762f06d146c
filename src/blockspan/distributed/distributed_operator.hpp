#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/part_products.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan {

/// A DistributedMatrix as an operator on the local rows of blocks. One product at a time (see
/// distributed::PartProducts).
template <class Scalar, class Exec>
class DistributedOperator final : public LinearOperator<Scalar, Exec>,
                                  public EntryAccess<Scalar, Exec> {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Real = real_t<Scalar>;

  /// Creates a plan for each part. space: of the matrix, with the method of sums over rows. Called
  /// by all ranks; fences the instance. Throws Error, on all ranks, if an option is out of range,
  /// or where memory is short.
  DistributedOperator(Exec const& exec, std::shared_ptr<Matrix const> matrix,
                      SpmmPlanOptions const& options)
      : DistributedOperator(exec, matrix, options, matrix->row_space()) {}
  DistributedOperator(Exec const& exec, std::shared_ptr<Matrix const> matrix,
                      SpmmPlanOptions const& options, RowSpace space)
      : parts_(exec, std::move(matrix), options), sums_(std::move(space)) {}

  std::int64_t rows() const override { return matrix().local_rows(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    parts_.multiply(exec, Op::none, Scalar(1), X, Scalar(0), Y);
  }

  /// On devices, as MatrixOperator; not with sums by units, since the kernels produce one partial
  /// sum per rank.
  bool apply_dots(Exec const& exec, ConstBlock<Scalar, Exec> const& X, Block<Scalar, Exec> const& Y,
                  OperatorValues<Real const, Exec> const& weights,
                  OperatorValues<Scalar, Exec> const& x_dot_y,
                  OperatorValues<Real, Exec> const& y_dot_y) const override {
    if constexpr (!support::runs_on_host_v<Exec>) {
      if (sums_.rows().unit() > 0) return false;
      parts_.multiply_dots(
          exec, Scalar(1), X, Scalar(0), Y, products::row_weights<Exec, Real>(weights, rows()),
          {products::dots_ref<Exec, Scalar>(x_dot_y), products::dots_ref<Exec, Real>(y_dot_y)},
          sums_of_rank_);
      return true;
    }
    return false;
  }

  bool apply_step(Exec const& exec, ConstBlock<Scalar, Exec> const& Z,
                  OperatorStep<Scalar, Exec> const& step,
                  Block<Scalar, Exec> const& Y) const override {
    return parts_.step(exec, Z, step, Y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    int const size = ranks().size();
    return {.name = size == 1 ? "matrix" : "matrix on " + std::to_string(size) + " ranks",
            .row_space = sums_.rows(),
            .norm_bound = matrix().norm_bound(),
            .eigenvalue_lower_bound = matrix().eigenvalue_lower_bound(),
            .terms_per_row = parts_.longest_row(),
            .work = matrix().nonzeros(),
            .replayable = size == 1 || ranks().device() != nullptr,
            .entries = this};
  }
  std::shared_ptr<LinearOperator<Scalar, Exec> const> for_many_products(
      Exec const& exec) const override {
    return in_slices(exec);
  }
  /// This operator with its current values in slices, as MatrixOperator::in_slices; no messages.
  /// Null on a rank where memory is short or no product uses slices: the bits are the same.
  std::shared_ptr<DistributedOperator const> in_slices(Exec const& exec) const {
    auto parts = parts_.in_slices(exec);
    if (!parts) return nullptr;
    auto copy = std::make_shared<DistributedOperator>(*this);
    copy->parts_ = std::move(*parts);
    return copy;
  }

  bool annihilates_constants(Exec const& exec) const override {
    return matrix().annihilates_constants(exec);
  }
  /// On one rank, as MatrixOperator.
  Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const override {
    if (ranks().size() > 1) return {};
    return operators::null_vectors_of(exec, sparse::matrix_ref<Exec>(matrix().whole()), work);
  }
  std::vector<Real> diagonal(Exec const& exec) const override { return matrix().diagonal(exec); }
  bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                        OperatorValues<Real, Exec> const& y) const override {
    parts_.multiply_magnitudes(exec, x, y);
    return true;
  }
  bool subtract_accurately(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                           Block<Scalar, Exec> const& R) const override {
    parts_.subtract_product(exec, X, R);
    return true;
  }

  Matrix const& matrix() const { return parts_.matrix(); }
  /// Its products, part by part, and the workspace of their sums over ranks.
  distributed::PartProducts<Scalar, Exec> const& parts() const { return parts_; }
  Workspace<Exec>& sums() const { return sums_; }

 private:
  Communicator const& ranks() const { return matrix().row_space().communicator(); }

  distributed::PartProducts<Scalar, Exec> parts_;
  mutable Workspace<Exec> sums_, sums_of_rank_;
};

struct DistributedOptions {
  int columns = 16;  ///< expected widest block
  /// The same bits for any number of ranks, including one, if the partition is at chunk boundaries
  /// of the solvers' sums (as from distribute, generate_distributed and RowOrder). Products sum
  /// whole rows, each in its order, instead of using the kernel that a plan would choose, and sums
  /// are separate passes, in which ranks contribute nodes by units (see RowSpace).
  bool same_bits = false;
};

/// The operator of a matrix. Called by all ranks; fences the instance. Throws Error, on all ranks,
/// if an option is out of range, where memory is short, and for same_bits if the partition is not
/// at chunk boundaries.
template <class Scalar, class Exec>
DistributedOperator<Scalar, Exec> distributed_operator(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> matrix,
    DistributedOptions const& options = {}) {
  SpmmPlanOptions plan{.columns = options.columns};
  if (!options.same_bits) return {exec, std::move(matrix), plan};
  plan.algorithm = "rows";
  plan.strict = false;
  plan.lanes.entries = 1;
  RowSpace const space = matrix->row_space_by_units();
  return {exec, std::move(matrix), plan, space};
}

/// Y = alpha op(A) X + beta Y for a matrix on several ranks, also with A^T, conj(A) and A^H. Called
/// by all ranks, with the same op, alpha, beta and columns; X and Y: the local rows, any layouts
/// and strides, which must not overlap. Y is overwritten; beta = 0 never reads it. The same bits
/// from run to run; a transposed product adds the contributions of ranks to a row in rank order, so
/// its bits depend on their number. Waits for the exchange, except with a device transport and op
/// none or conj; one product at a time. Throws Error if shapes do not match, on the rank where they
/// do not.
///
/// Cost of a rank: its entries once, and for each row of the halo, sent and received, one row of X,
/// or one contribution to a row of Y.
template <class Scalar, class Exec, class XView, class YView>
void spmm(Exec const& exec, Op op, std::type_identity_t<Scalar> const& alpha,
          DistributedOperator<Scalar, Exec> const& A, XView const& X,
          std::type_identity_t<Scalar> const& beta, YView const& Y) {
  A.parts().multiply(exec, op, alpha, X, beta, Y);
}

/// Y = alpha A X + beta Y, and with the new Y, for every column j, over the rows of all ranks,
///   x_dot_y(j) = sum_i conj(X(i, j)) Y(i, j)   and   y_dot_y(j) = sum_i w_i |Y(i, j)|^2,
/// the same on all ranks. Called by all ranks, with the same alpha, beta and columns; X, Y and
/// weights: the local rows; otherwise as spmm_dots of a matrix, with its error bounds. One message
/// for the sums besides those of the halo; without a device transport the host waits for it.
///
/// If the product kernels of all parts of a rank's rows can compute sums, they do (those of the
/// boundaries after the exchange), and nothing is read twice; else one pass over X and Y follows,
/// as on hosts, in the order of all sums over rows. The same bits from run to run; they do not
/// depend on the number of ranks if those of column_dots do not (RowSpace). Throws Error as spmm of
/// such an operator and as spmm_dots do.
template <class Scalar, class Exec, class XView, class YView, class XDotYView, class YDotYView,
          class Weights = std::nullptr_t>
void spmm_dots(Exec const& exec, std::type_identity_t<Scalar> const& alpha,
               DistributedOperator<Scalar, Exec> const& A, XView const& X,
               std::type_identity_t<Scalar> const& beta, YView const& Y, XDotYView const& x_dot_y,
               YDotYView const& y_dot_y, Weights const& weights = nullptr) {
  A.parts().multiply_dots(exec, alpha, X, beta, Y,
                          products::row_weights<Exec, real_t<Scalar>>(weights, A.rows()),
                          {products::dots_ref<Exec, Scalar>(x_dot_y),
                           products::dots_ref<Exec, real_t<Scalar>>(y_dot_y)},
                          A.sums());
}

}  // namespace blockspan
