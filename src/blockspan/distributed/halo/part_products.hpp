#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/packed_exchange.hpp>
#include <blockspan/distributed/halo/part_plans.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/launch/scale.hpp>
#include <blockspan/spmm/run/dots.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/spmm/spmm.hpp>

namespace blockspan::distributed {

/// Products with the local rows of a matrix, part by part (DistributedMatrix::RowPart): the
/// interior from X while the halo is exchanged, the boundaries from the packed block. One product
/// at a time (see PackedExchange); called by all ranks.
template <class Scalar, class Exec>
class PartProducts {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Real = real_t<Scalar>;

  /// Creates a plan for each part. Throws Error, on all ranks, if an option is out of range, or
  /// where memory is short.
  PartProducts(Exec const& exec, std::shared_ptr<Matrix const> matrix,
               SpmmPlanOptions const& options)
      : matrix_(std::move(matrix)), exchange_(matrix_) {
    bool const idle = exchange_.idle();
    plans_ = ranks().run_agreed([&] { return Plans(exec, *matrix_, options, idle); });
    longest_ = ranks().largest(plans_.longest_row());
  }

  Matrix const& matrix() const { return *matrix_; }
  SpmmPlan<Exec> const& plan(int part) const { return plans_[part]; }
  std::int64_t longest_row() const { return longest_; }  ///< maximum over all ranks

  /// These products with plans that hold slices, see PartPlans::in_slices. No messages.
  std::optional<PartProducts> in_slices(Exec const& exec) const {
    auto plans = plans_.in_slices(exec, *matrix_);
    if (!plans) return {};
    PartProducts copy(*this);
    copy.plans_ = std::move(*plans);
    return copy;
  }

  /// Y = alpha op(A) X + beta Y.
  template <class XView, class YView>
  void multiply(Exec const& exec, Op op, Scalar const& alpha, XView const& X, Scalar const& beta,
                YView const& Y) const {
    require_local("spmm", X, Y);
    if (transposes(op) && ranks().size() > 1 && !is_finite(alpha))
      multiply_transposed_then_scale(exec, op, alpha, X, beta, Y);
    else if (transposes(op))
      multiply_transposed(exec, op, alpha, X, beta, Y);
    else
      multiply_rows(exec, op, alpha, X, beta, Y);
  }

  /// Y = alpha A X + beta Y, and sums of its columns: over the ranks of `sums`, or, if it has none,
  /// over the rows of this rank.
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

  /// Implements LinearOperator::apply_step.
  bool step(Exec const& exec, ConstBlock<Scalar, Exec> const& Z,
            OperatorStep<Scalar, Exec> const& step, Block<Scalar, Exec> const& Y) const {
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

  /// y = |A| x.
  void multiply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                           OperatorValues<Real, Exec> const& y) const {
    Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>> reals;
    if (!exchange_.idle()) {
      Block<Scalar, Exec> const X =
          allocate<Block<Scalar, Exec>>(exec, "Blockspan::distributed::magnitudes", x.extent(0), 1);
      Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, 0), x);
      exchange_.gather_halo(exec, blocks::block_ref<Exec>(X));
      reals = allocate<decltype(reals)>(exec, "Blockspan::distributed::magnitudes",
                                        matrix_->packed_rows());
      Kokkos::parallel_for("Blockspan::distributed::magnitudes",
                           Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                               exec, 0, matrix_->packed_rows()),
                           TakeRealParts<Scalar>{exchange_.block(1).data(), reals.data()});
    }
    for (int p = 0; p < 3; ++p) {
      auto const& part = matrix_->part(static_cast<RowPart>(p));
      if (part.rows() == 0) continue;
      operators::multiply_magnitudes(exec, sparse::matrix_ref<Exec>(part.matrix),
                                     p == Matrix::interior ? x.data() : reals.data(),
                                     y.data() + part.first);
    }
  }

  /// R -= A X in twice the working precision.
  void subtract_product(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                        Block<Scalar, Exec> const& R) const {
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
  }

  /// The two parts of a product, for measurements: the halo exchange of X alone, and the local work
  /// with the halo of the last exchange of the same width. Called by all ranks.
  template <class XView>
  void exchange(Exec const& exec, XView const& X) const {
    exchange_.gather_halo(exec, blocks::block_ref<Exec>(X));
  }
  template <class XView, class YView>
  void multiply_local(Exec const& exec, XView const& X, YView const& Y) const {
    multiply_part(exec, Matrix::interior, Op::none, Scalar(1), X, Scalar(0), Y);
    multiply_ends(exec, Op::none, Scalar(1), exchange_.block(X.extent(1)), Scalar(0), Y);
  }

 private:
  using RowPart = typename Matrix::RowPart;
  using Plans = PartPlans<Scalar, Exec>;
  Communicator const& ranks() const { return matrix_->row_space().communicator(); }

  template <class XView, class YView>
  void require_local(char const* where, XView const& X, YView const& Y) const {
    require(X.extent(0) == static_cast<std::size_t>(matrix_->local_rows()) &&
                Y.extent(0) == X.extent(0) && Y.extent(1) == X.extent(1),
            where, "X is ", X.extent(0), " x ", X.extent(1), " and Y ", Y.extent(0), " x ",
            Y.extent(1), " where rank ", ranks().rank(), " has ", matrix_->local_rows(), " rows");
  }

  /// The rows of a part in a block of all local rows.
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

  /// Packs and sends; multiplies the interior; receives; multiplies the boundaries. Every row of Y
  /// is written once.
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

  /// For an alpha that is NaN or infinite: the contributions of ranks times alpha do not add up to
  /// alpha times the whole sum (a rank that adds nothing to a row gives NaN), so alpha comes last.
  template <class XView, class YView>
  void multiply_transposed_then_scale(Exec const& exec, Op op, Scalar const& alpha, XView const& X,
                                      Scalar const& beta, YView const& Y) const {
    auto const sums = ranks().run_agreed([&] {
      return allocate<Block<Scalar, Exec>>(exec, "Blockspan::distributed::sums", Y.extent(0),
                                           Y.extent(1));
    });
    multiply_transposed(exec, op, Scalar(1), X, Scalar(0), sums);
    products::scale_sums<Exec, Scalar>(exec, blocks::block_ref<Exec>(sums), alpha, beta,
                                       blocks::block_ref<Exec>(Y));
    exec.fence("Blockspan::distributed: the sums are freed");
  }

  /// The reverse exchange: the boundaries contribute to rows of the packed block, which are sent to
  /// their owners while the interior is multiplied.
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

  std::shared_ptr<Matrix const> matrix_;
  Plans plans_;
  std::int64_t longest_ = 0;
  PackedExchange<Scalar, Exec> exchange_;
};

}  // namespace blockspan::distributed
