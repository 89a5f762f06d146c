#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/packed_exchange.hpp>
#include <blockspan/distributed/halo/part_plans.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan {

/// A DistributedMatrix as an operator on the local rows of blocks. One product at a time (see
/// distributed::PackedExchange).
template <class Scalar, class Exec>
class DistributedOperator final : public LinearOperator<Scalar, Exec>,
                                  public EntryAccess<Scalar, Exec> {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Real = real_t<Scalar>;

  /// Makes a plan for each part. space: of the matrix, how sums over rows are made. All ranks
  /// together; waits for the instance. Throws Error, on all ranks, if an option is out of range, or
  /// where memory is short.
  DistributedOperator(Exec const& exec, std::shared_ptr<Matrix const> matrix,
                      SpmmPlanOptions const& options)
      : DistributedOperator(exec, matrix, options, matrix->row_space()) {}
  DistributedOperator(Exec const& exec, std::shared_ptr<Matrix const> matrix,
                      SpmmPlanOptions const& options, RowSpace space)
      : matrix_(std::move(matrix)), exchange_(matrix_), sums_(std::move(space)) {
    bool const idle = exchange_.idle();
    plans_ = ranks().run_agreed([&] { return PartPlans(exec, *matrix_, options, idle); });
    longest_ = ranks().largest(plans_.longest_row());
  }

  std::int64_t rows() const override { return matrix_->local_rows(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    multiply(exec, Op::none, Scalar(1), X, Scalar(0), Y);
  }

  /// On devices, as a MatrixOperator; not with sums by units, since these are one partial sum a
  /// rank.
  bool apply_dots(Exec const& exec, ConstBlock<Scalar, Exec> const& X, Block<Scalar, Exec> const& Y,
                  OperatorValues<Real const, Exec> const& weights,
                  OperatorValues<Scalar, Exec> const& x_dot_y,
                  OperatorValues<Real, Exec> const& y_dot_y) const override {
    if constexpr (!support::runs_on_host_v<Exec>) {
      if (sums_.rows().unit() > 0) return false;
      multiply_dots(
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
    exchange_.grow(exec, static_cast<std::int64_t>(Z.extent(1)));
    ConstBlock<Scalar, Exec> const packed = exchange_.block(Z.extent(1));
    auto const rows_of_step = [&](RowPart which) {
      auto const& part = matrix_->part(which);
      return products::ProductStep<Scalar>{
          step.add_z,
          step.add_y,
          step.momentum,
          step.factor,
          step.weights.data() ? step.weights.data() + part.first : nullptr,
          blocks::block_ref<Exec>(rows_of(part, step.R)),
          blocks::block_ref<Exec>(rows_of(part, Z))};
    };
    auto const rows_of_y = [&](RowPart which) {
      return blocks::block_ref<Exec>(rows_of(matrix_->part(which), Y));
    };
    auto const block = [&](RowPart which) {
      return blocks::block_ref<Exec>(which == Matrix::interior ? Z : packed);
    };
    for (RowPart const which : {Matrix::lower_boundary, Matrix::interior, Matrix::upper_boundary})
      if (matrix_->part(which).rows() > 0 &&
          !products::fuses_step<Exec, Scalar>(plans_[which].panels(), block(which),
                                              rows_of_step(which), rows_of_y(which)))
        return false;
    auto const multiply = [&](Exec const& on, RowPart which) {
      auto const& part = matrix_->part(which);
      if (part.rows() > 0)
        products::multiply_with_step<Exec, Scalar>(
            on, plans_[which].panels(), sparse::planned_matrix_ref<Exec>(part.matrix), block(which),
            rows_of_step(which), rows_of_y(which));
    };
    exchange_.gather_halo(
        exec, blocks::block_ref<Exec>(Z), [&] { multiply(exec, Matrix::interior); },
        [&](Exec const& on) {
          multiply(on, Matrix::lower_boundary), multiply(on, Matrix::upper_boundary);
        });
    return true;
  }

  /// Y = alpha op(A) X + beta Y; see spmm below.
  template <class XView, class YView>
  void multiply(Exec const& exec, Op op, Scalar const& alpha, XView const& X, Scalar const& beta,
                YView const& Y) const {
    require_local("spmm", X, Y);
    if (transposes(op))
      multiply_transposed(exec, op, alpha, X, beta, Y);
    else
      multiply_rows(exec, op, alpha, X, beta, Y);
  }

  /// Y = alpha A X + beta Y, and sums of its columns; see spmm_dots below.
  template <class XView, class YView>
  void multiply_dots(Exec const& exec, Scalar const& alpha, XView const& X, Scalar const& beta,
                     YView const& Y, Real const* weights,
                     products::DotOutputs<Scalar> const& dots) const {
    multiply_dots(exec, alpha, X, beta, Y, weights, dots, sums_);
  }

  /// The two halves of a product, for measurements: the exchange of the rows of X alone, and the
  /// work with the rows that the last exchange of the same width has left. All ranks together.
  template <class XView>
  void exchange(Exec const& exec, XView const& X) const {
    exchange_.gather_halo(exec, blocks::block_ref<Exec>(X));
  }
  template <class XView, class YView>
  void multiply_local(Exec const& exec, XView const& X, YView const& Y) const {
    multiply_part(exec, Matrix::interior, Op::none, Scalar(1), X, Scalar(0), Y);
    multiply_ends(exec, Op::none, Scalar(1), exchange_.block(X.extent(1)), Scalar(0), Y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    int const size = ranks().size();
    return {.name = size == 1 ? "matrix" : "matrix on " + std::to_string(size) + " ranks",
            .row_space = sums_.rows(),
            .norm_bound = matrix_->norm_bound(),
            .eigenvalue_lower_bound = matrix_->eigenvalue_lower_bound(),
            .terms_per_row = longest_,
            .work = matrix_->nonzeros(),
            .replayable = size == 1 || ranks().device() != nullptr,
            .entries = this};
  }
  std::shared_ptr<LinearOperator<Scalar, Exec> const> for_many_products(
      Exec const& exec) const override {
    return in_slices(exec);
  }
  /// Hosts: this operator with the values of now in slices, as MatrixOperator::in_slices; no
  /// messages. Null on a rank where memory is short or no product reads them: bits are the same.
  std::shared_ptr<DistributedOperator const> in_slices(Exec const& exec) const {
    auto plans = plans_.in_slices(exec, *matrix_);
    if (!plans) return nullptr;
    auto copy = std::make_shared<DistributedOperator>(*this);
    copy->plans_ = std::move(*plans);
    return copy;
  }

  bool annihilates_constants(Exec const& exec) const override {
    return matrix_->annihilates_constants(exec);
  }
  /// On one rank, as a MatrixOperator.
  Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const override {
    if (ranks().size() > 1) return {};
    return operators::null_vectors_of(exec, sparse::matrix_ref<Exec>(matrix_->whole()), work);
  }
  std::vector<Real> diagonal(Exec const& exec) const override { return matrix_->diagonal(exec); }

  bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                        OperatorValues<Real, Exec> const& y) const override {
    Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>> reals;
    if (!exchange_.idle()) {
      Block<Scalar, Exec> const X =
          allocate<Block<Scalar, Exec>>(exec, "Blockspan::distributed::magnitudes", x.extent(0), 1);
      Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, 0), x);
      exchange_.gather_halo(exec, blocks::block_ref<Exec>(X));
      reals = allocate<decltype(reals)>(exec, "Blockspan::distributed::magnitudes",
                                        matrix_->packed_rows());
      Kokkos::parallel_for(
          "Blockspan::distributed::magnitudes",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0,
                                                                     matrix_->packed_rows()),
          distributed::TakeRealParts<Scalar>{exchange_.block(1).data(), reals.data()});
    }
    for (int p = 0; p < 3; ++p) {
      auto const& part = matrix_->part(static_cast<RowPart>(p));
      if (part.rows() == 0) continue;
      operators::multiply_magnitudes(exec, sparse::matrix_ref<Exec>(part.matrix),
                                     p == Matrix::interior ? x.data() : reals.data(),
                                     y.data() + part.first);
    }
    return true;
  }

  bool subtract_accurately(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                           Block<Scalar, Exec> const& R) const override {
    exchange_.grow(exec, static_cast<std::int64_t>(X.extent(1)));
    if (!exchange_.idle()) exchange_.gather_halo(exec, blocks::block_ref<Exec>(X));
    ConstBlock<Scalar, Exec> const packed = exchange_.block(X.extent(1));
    for (int p = 0; p < 3; ++p) {
      auto const& part = matrix_->part(static_cast<RowPart>(p));
      if (part.rows() == 0) continue;
      operators::subtract_product(exec, sparse::matrix_ref<Exec>(part.matrix),
                                  blocks::block_ref<Exec>(p == Matrix::interior ? X : packed),
                                  blocks::block_ref<Exec>(rows_of(part, R)));
    }
    return true;
  }

  Matrix const& matrix() const { return *matrix_; }
  /// The plan of a part, see Matrix::RowPart; of the interior only where all rows are in it.
  SpmmPlan<Exec> const& plan(int part) const { return plans_[part]; }

 private:
  using RowPart = typename Matrix::RowPart;
  using PartPlans = distributed::PartPlans<Scalar, Exec>;
  Communicator const& ranks() const { return matrix_->row_space().communicator(); }

  template <class XView, class YView>
  void require_local(char const* where, XView const& X, YView const& Y) const {
    require(X.extent(0) == static_cast<std::size_t>(rows()) && Y.extent(0) == X.extent(0) &&
                Y.extent(1) == X.extent(1),
            where, "X is ", X.extent(0), " x ", X.extent(1), " and Y ", Y.extent(0), " x ",
            Y.extent(1), " where rank ", ranks().rank(), " has ", rows(), " rows");
  }

  /// The rows of a part, in a block of all local rows.
  template <class View>
  static auto rows_of(typename Matrix::Part const& part, View const& block) {
    return Kokkos::subview(block, std::pair(part.first, part.first + part.rows()), Kokkos::ALL);
  }

  template <class XView, class YView>
  void multiply_part(Exec const& exec, RowPart which, Op op, Scalar const& alpha, XView const& X,
                     Scalar const& beta, YView const& Y) const {
    auto const& part = matrix_->part(which);
    if (part.rows() > 0)
      spmm(exec, plans_[which], op, alpha, part.matrix, X, beta, rows_of(part, Y));
  }

  template <class YView>
  void multiply_ends(Exec const& exec, Op op, Scalar const& alpha,
                     Block<Scalar, Exec> const& packed, Scalar const& beta, YView const& Y) const {
    multiply_part(exec, Matrix::lower_boundary, op, alpha, packed, beta, Y);
    multiply_part(exec, Matrix::upper_boundary, op, alpha, packed, beta, Y);
  }

  /// Packs and sends; multiplies the rows that need no others; receives; multiplies the rest. Every
  /// row of Y is written once.
  template <class XView, class YView>
  void multiply_rows(Exec const& exec, Op op, Scalar const& alpha, XView const& X,
                     Scalar const& beta, YView const& Y) const {
    exchange_.gather_halo(
        exec, blocks::block_ref<Exec>(X),
        [&] { multiply_part(exec, Matrix::interior, op, alpha, X, beta, Y); },
        [&](Exec const& on) {
          multiply_ends(on, op, alpha, exchange_.block(X.extent(1)), beta, Y);
        });
  }

  /// The exchange the other way: head and tail give contributions to the rows of the packed block,
  /// which go to the ranks that have those rows while the interior is multiplied.
  template <class XView, class YView>
  void multiply_transposed(Exec const& exec, Op op, Scalar const& alpha, XView const& X,
                           Scalar const& beta, YView const& Y) const {
    auto const part = [&](RowPart which, Scalar const& keep, auto const& to) {
      auto const& rows = matrix_->part(which);
      spmm(exec, plans_[which], op, alpha, rows.matrix, rows_of(rows, X), keep, to);
    };
    if (exchange_.idle()) return part(Matrix::interior, beta, Y);
    exchange_.scatter_add_halo(
        exec, blocks::block_ref<Exec>(Y),
        [&](Block<Scalar, Exec> const& packed) {
          part(Matrix::lower_boundary, Scalar(0), packed);
          part(Matrix::upper_boundary, Scalar(1), packed);
        },
        [&] { part(Matrix::interior, beta, Y); });
  }

  /// Sums over the ranks of `sums`, or where it has none those of the rows of this rank.
  template <class XView, class YView>
  void multiply_dots(Exec const& exec, Scalar const& alpha, XView const& X, Scalar const& beta,
                     YView const& Y, Real const* weights, products::DotOutputs<Scalar> const& dots,
                     Workspace<Exec>& sums) const {
    require_local("spmm_dots", X, Y);
    exchange_.grow(exec, static_cast<std::int64_t>(X.extent(1)));
    blocks::BlockRef<Scalar const> const x = blocks::block_ref<Exec>(X);
    blocks::BlockRef<Scalar const> const packed =
        blocks::block_ref<Exec>(exchange_.block(X.extent(1)));
    auto const part = [&](RowPart which) {
      auto const& rows = matrix_->part(which);
      return products::PartOfRows<Exec, Scalar, int>{
          &plans_[which].panels(), sparse::planned_matrix_ref<Exec>(rows.matrix), rows.first,
          which == Matrix::interior ? x : packed};
    };
    products::Product<Scalar> const product{Op::none, alpha, x, beta, blocks::block_ref<Exec>(Y)};
    if (exchange_.idle()) {
      std::array const all{part(Matrix::interior)};
      return products::multiply_dots<Exec, Scalar, int>(
          exec, all, [&](auto const& multiply) { multiply(exec, 0); }, product, weights, dots,
          sums);
    }
    std::array const parts{part(Matrix::lower_boundary), part(Matrix::interior),
                           part(Matrix::upper_boundary)};
    products::multiply_dots<Exec, Scalar, int>(
        exec, parts,
        [&](auto const& multiply) {
          exchange_.gather_halo(
              exec, x, [&] { multiply(exec, Matrix::interior); },
              [&](Exec const& on) {
                multiply(on, Matrix::lower_boundary), multiply(on, Matrix::upper_boundary);
              });
        },
        product, weights, dots, sums);
  }

  std::shared_ptr<Matrix const> matrix_;
  PartPlans plans_;
  std::int64_t longest_ = 0;  ///< row of all ranks
  distributed::PackedExchange<Scalar, Exec> exchange_;
  mutable Workspace<Exec> sums_, sums_of_rank_;
};

struct DistributedOptions {
  int columns = 16;  ///< widest block expected
  /// The same bits for any number of ranks, one too, where rows are cut at chunks of the solvers'
  /// sums (as distribute, generate_distributed and RowOrder do). Products sum whole rows, each
  /// added up in its order, whatever kernel a plan would choose, and sums a pass of their own,
  /// whose nodes ranks give by units (see RowSpace).
  bool same_bits = false;
};

/// The operator of a matrix. All ranks together; waits for the instance. Throws Error, on all
/// ranks, if an option is out of range, where memory is short, and for same_bits where rows are not
/// cut at chunks.
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

/// Y = alpha op(A) X + beta Y of a matrix on ranks: A^T, conj(A) and A^H too. All ranks together,
/// with the same op, alpha, beta and columns; X and Y: the local rows, any layouts and strides,
/// which must not overlap. Y is overwritten; beta = 0 never reads it. The same bits from run to
/// run; a transposed product adds what ranks contribute to a row in the order of the ranks, so its
/// bits depend on their count. Waits for the exchange; one product at a time. Throws Error for
/// shapes that clash, on the rank where they do.
///
/// Cost of a rank: its entries once, and one row of X, or one contribution to a row of Y, for each
/// row of the halo, sent and received.
template <class Scalar, class Exec, class XView, class YView>
void spmm(Exec const& exec, Op op, std::type_identity_t<Scalar> const& alpha,
          DistributedOperator<Scalar, Exec> const& A, XView const& X,
          std::type_identity_t<Scalar> const& beta, YView const& Y) {
  A.multiply(exec, op, alpha, X, beta, Y);
}

/// Y = alpha A X + beta Y, and with the new Y, for every column j, over the rows of all ranks,
///   x_dot_y(j) = sum_i conj(X(i, j)) Y(i, j)   and   y_dot_y(j) = sum_i w_i |Y(i, j)|^2,
/// the same on all ranks. All ranks together, with the same alpha, beta and columns; X, Y and
/// weights: the local rows; else as spmm_dots of a matrix, with its bounds of rounding errors. One
/// message for the sums beside those of the halo, waited for where devices have no transport.
///
/// Where the products of all parts of a rank's rows have kernels that sum, these make the sums, of
/// the rows at the cuts behind the exchange, and nothing is read twice; else one pass over X and Y
/// follows, as on hosts, in the order of all sums over rows. The same bits from run to run; they
/// do not depend on the number of ranks where those of column_dots do not (RowSpace).
/// Throws Error as spmm of such an operator and as spmm_dots do.
template <class Scalar, class Exec, class XView, class YView, class XDotYView, class YDotYView,
          class Weights = std::nullptr_t>
void spmm_dots(Exec const& exec, std::type_identity_t<Scalar> const& alpha,
               DistributedOperator<Scalar, Exec> const& A, XView const& X,
               std::type_identity_t<Scalar> const& beta, YView const& Y, XDotYView const& x_dot_y,
               YDotYView const& y_dot_y, Weights const& weights = nullptr) {
  A.multiply_dots(exec, alpha, X, beta, Y,
                  products::row_weights<Exec, real_t<Scalar>>(weights, A.rows()),
                  {products::dots_ref<Exec, Scalar>(x_dot_y),
                   products::dots_ref<Exec, real_t<Scalar>>(y_dot_y)});
}

}  // namespace blockspan
