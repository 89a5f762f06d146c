#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/multivector/block.hpp>

namespace blockspan {

/// Numbers where Exec computes, one a column or row.
template <class Number, class Exec>
using OperatorValues = Kokkos::View<Number*, Kokkos::Device<Exec, typename Exec::memory_space>,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Y := Z + momentum (Z - Y) + factor W (R - Op Z), a step of a polynomial in W Op.
template <class Scalar, class Exec>
struct OperatorStep {
  ConstBlock<Scalar, Exec> R = {};
  OperatorValues<real_t<Scalar> const, Exec> weights = {};  ///< W, one a row; empty: ones
  real_t<Scalar> factor = 1, momentum = 0;
  bool keeps = true;       ///< the sum has Z; else 0, without momentum: Y := factor W (R - Op Z)
  bool remembers = false;  ///< the sum has Y; else 0 in its place, and Y is not read
};

/// A square linear operator on blocks of vectors: the only thing a solver knows of a matrix, a mass
/// matrix or a preconditioner. One virtual call per block; solvers are compiled once per scalar and
/// backend in the library.
template <class Scalar, class Exec>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Order n of the operator; where its rows are spread over ranks, how many this rank has.
  virtual std::int64_t rows() const = 0;

  /// How the rows are spread. Solvers take it from A, and sum over the rows of all ranks; A, its
  /// mass and its preconditioner have the same local rows. All functions below are then called by
  /// all ranks together; what they return of the operator as a whole (bounds, terms_per_row, work)
  /// is the same on all of them.
  virtual RowSpace row_space() const { return {}; }

  /// Y = Op X on the instance `exec`, without a fence. X, Y: n x k, k >= 1, row-major, possibly a
  /// range of columns of a wider block; Y is overwritten (whatever its contents) and does not
  /// overlap X.
  virtual void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                     Block<Scalar, Exec> const& Y) const = 0;

  /// Y = Op X as apply, and for every column j, in the same pass,
  ///   x_dot_y(j) = sum_i conj(X(i, j)) Y(i, j)   and   y_dot_y(j) = sum_i w_i |Y(i, j)|^2
  /// (weights: w; empty: ones; y_dot_y empty: not wanted), over the rows of this rank: who calls it
  /// sums over the ranks, with other numbers where there are some. Returns false, and does nothing,
  /// where that is not less work than apply and a pass over X and Y, for blocks of any width and on
  /// all ranks alike: so does this one.
  virtual bool apply_dots(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                          Block<Scalar, Exec> const& Y,
                          OperatorValues<real_t<Scalar> const, Exec> const& weights,
                          OperatorValues<Scalar, Exec> const& x_dot_y,
                          OperatorValues<real_t<Scalar>, Exec> const& y_dot_y) const {
    (void)exec, (void)X, (void)Y, (void)weights, (void)x_dot_y, (void)y_dot_y;
    return false;
  }

  /// Takes the step in the kernel of the product: reads Z, R and Y once and writes Y, n x k,
  /// row-major; Y overlaps neither Z nor R. Returns false, and does nothing, where there is no such
  /// kernel: so does this one.
  virtual bool apply_step(Exec const& exec, ConstBlock<Scalar, Exec> const& Z,
                          OperatorStep<Scalar, Exec> const& step,
                          Block<Scalar, Exec> const& Y) const {
    (void)exec, (void)Z, (void)step, (void)Y;
    return false;
  }

  /// An upper bound of ||Op||_2 where one is known (for a matrix its inf-norm).
  virtual std::optional<real_t<Scalar>> norm_bound() const { return std::nullopt; }

  /// Whether it maps the vector of ones to zero, to rounding, as the matrices of Neumann problems
  /// and graph Laplacians do; false where that is not known. Waits for the instance.
  virtual bool annihilates_constants(Exec const& exec) const {
    (void)exec;
    return false;
  }

  /// Orthonormal vectors, n x c, that it may map to zero if it is positive semidefinite, as far as
  /// its entries show; to be tested by the caller. May take the time of `work` multiplications of
  /// one thread; no columns where that is too little or nothing is known. Waits for the instance.
  virtual Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const {
    (void)exec, (void)work;
    return {};
  }

  /// The most rounded products that are summed up in an entry of Op x, for bounds of rounding
  /// errors.
  virtual std::int64_t terms_per_row() const { return rows(); }

  /// The multiplications of Op x for one vector, to predict what a solve costs.
  virtual std::int64_t work() const { return rows() * terms_per_row(); }

  /// A number that no eigenvalue of a Hermitian Op is below, where one is known (for a matrix by
  /// Gershgorin).
  virtual std::optional<real_t<Scalar>> eigenvalue_lower_bound() const { return std::nullopt; }

  /// The real parts of the diagonal, on the host; empty where the operator does not know them.
  /// Waits for the instance.
  virtual std::vector<real_t<Scalar>> diagonal(Exec const& exec) const {
    (void)exec;
    return {};
  }

  /// Whether, as a preconditioner, it is the inverse of the matrix but for rounding and a small
  /// shift, so that tens of iterations are enough.
  virtual bool nearly_exact() const { return false; }

  /// y = |Op| x with the magnitudes of the entries, for the rounding errors of a product; x, y: one
  /// number a row. Waits for the instance. Returns false, and does nothing, where the operator does
  /// not know its entries.
  virtual bool apply_magnitudes(Exec const& exec,
                                OperatorValues<real_t<Scalar> const, Exec> const& x,
                                OperatorValues<real_t<Scalar>, Exec> const& y) const {
    (void)exec, (void)x, (void)y;
    return false;
  }

  /// R -= Op X with products and sums in twice the working precision, rounded once: a residual
  /// whose own rounding errors do not matter. X, R: n x k, as those of apply. Returns false, and
  /// does nothing, where the operator does not know its entries.
  virtual bool subtract_accurately(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                   Block<Scalar, Exec> const& R) const {
    (void)exec, (void)X, (void)R;
    return false;
  }

  /// Whether apply, from the second call of a width on, only enqueues kernels on `exec`, always the
  /// same for the same X and Y: it neither waits nor allocates, and decides nothing on the host by
  /// numbers that change. Solvers may then record it once and replay it (CUDA graphs).
  virtual bool replayable() const { return false; }

  /// What it is, in a few words, for messages and reports.
  virtual std::string name() const { return "operator"; }
};

/// A LinearOperator made of a callable f(exec, X, Y) that writes Y = Op X.
template <class Scalar, class Exec, class Function>
class FunctionOperator final : public LinearOperator<Scalar, Exec> {
 public:
  FunctionOperator(std::int64_t rows, Function function, std::string name, RowSpace space = {})
      : rows_(rows),
        function_(std::move(function)),
        name_(std::move(name)),
        space_(std::move(space)) {}

  std::int64_t rows() const override { return rows_; }
  RowSpace row_space() const override { return space_; }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    function_(exec, X, Y);
  }
  std::string name() const override { return name_; }

 private:
  std::int64_t rows_;
  Function function_;
  std::string name_;
  RowSpace space_;
};

/// Wraps f(exec, X, Y) as an operator of order `rows`. space: where f communicates, and these are
/// the rows of this rank.
template <class Scalar, class Exec, class Function>
FunctionOperator<Scalar, Exec, Function> function_operator(std::int64_t rows, Function function,
                                                           std::string name = "function",
                                                           RowSpace space = {}) {
  return {rows, std::move(function), std::move(name), std::move(space)};
}

}  // namespace blockspan
