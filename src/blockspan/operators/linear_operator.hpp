#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/communication/row_space.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan {

/// An unmanaged vector in memory of Exec, one value per column or row.
template <class Value, class Exec>
using OperatorValues = Kokkos::View<Value*, Kokkos::Device<Exec, typename Exec::memory_space>,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Y := Z + momentum (Z - Y) + factor W (R - Op Z), one step of a polynomial in W Op.
template <class Scalar, class Exec>
struct OperatorStep {
  ConstBlock<Scalar, Exec> R = {};
  OperatorValues<real_t<Scalar> const, Exec> weights = {};  ///< W, one per row; empty: W = I
  real_t<Scalar> factor = 1, momentum = 0;
  bool add_z = true;   ///< false: Y := factor W (R - Op Z), without the other terms
  bool add_y = false;  ///< false: the old Y counts as zero and is not read
};

/// Access to the entries of an operator, for bounds, scaling and residuals that cannot be computed
/// by products. Every function may decline, as the defaults here do. x, y: one value per local row;
/// blocks as in LinearOperator::apply. On several ranks all call together, and all decline or none
/// does.
template <class Scalar, class Exec>
class EntryAccess {
 public:
  using Real = real_t<Scalar>;

  virtual ~EntryAccess() = default;

  /// The real parts of the diagonal of the local rows, on the host; empty: not known. Fences the
  /// instance. O(nonzeros).
  virtual std::vector<Real> diagonal(Exec const& exec) const {
    (void)exec;
    return {};
  }

  /// Whether the vector of ones is in the null space, up to rounding, as for matrices of Neumann
  /// problems and graph Laplacians; false: not known. Fences the instance. O(nonzeros).
  virtual bool annihilates_constants(Exec const& exec) const {
    (void)exec;
    return false;
  }

  /// Orthonormal vectors, n x c, that may be in the null space of a positive semidefinite operator,
  /// derived from its entries; to be tested by the caller. Costs at most `work` multiplications of
  /// one thread; no columns where that is not enough or nothing is known. Fences the instance.
  virtual Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const {
    (void)exec, (void)work;
    return {};
  }

  /// y = |Op| x with the magnitudes of the entries, for bounds of the rounding errors of a product.
  /// Fences the instance. Returns false, without effect, where it cannot be computed. O(nonzeros).
  virtual bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                                OperatorValues<Real, Exec> const& y) const {
    (void)exec, (void)x, (void)y;
    return false;
  }

  /// R -= Op X with products and sums in twice the working precision, rounded once: a residual with
  /// negligible rounding errors of its own. Returns false, without effect, where it cannot be
  /// computed. O(k nonzeros).
  virtual bool subtract_accurately(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                   Block<Scalar, Exec> const& R) const {
    (void)exec, (void)X, (void)R;
    return false;
  }
};

/// What is known of an operator without computation: norms, costs, properties for solvers. Every
/// default means "not known" and is always valid; values that are set must be true. For an operator
/// on several ranks all fields describe the operator as a whole, the same on every rank.
template <class Scalar, class Exec>
struct OperatorFacts {
  using Real = real_t<Scalar>;

  std::string name = "operator";  ///< short, for messages and reports
  /// How the rows are distributed over ranks. Solvers sum over rows as the row space of A says; A,
  /// its mass matrix and its preconditioner have the same local rows.
  RowSpace row_space = {};
  std::optional<Real> norm_bound = {};  ///< an upper bound of ||Op||_2 (for a matrix its inf-norm)
  /// A lower bound of the eigenvalues of a Hermitian Op (for a matrix Gershgorin's bound).
  std::optional<Real> eigenvalue_lower_bound = {};
  /// The largest number of products that are summed in an entry of Op x, for bounds of rounding
  /// errors; default: n.
  std::optional<std::int64_t> terms_per_row = {};
  /// Multiplications in Op x for one vector, to predict costs; default: n terms_per_row.
  std::optional<std::int64_t> work = {};
  /// True for a preconditioner so close to the inverse of the matrix that some tens of iterations
  /// suffice: complete factors, or a hierarchy whose report predicts it.
  bool nearly_exact = false;
  /// From the second call with a width on, apply only enqueues kernels on `exec`, the same ones for
  /// the same X and Y: it neither fences nor allocates, and no host decision depends on values that
  /// change. Solvers may then capture it once and replay it (CUDA graphs).
  bool replayable = false;
  /// If not empty: Op X = W X with these positive weights W, one per row, in memory of Exec, valid
  /// for the lifetime of the operator. Solvers then scale rows in passes of their own.
  OperatorValues<Real const, Exec> row_weights = {};
  /// The entries, where they are known; valid for the lifetime of the operator.
  EntryAccess<Scalar, Exec> const* entries = nullptr;
};

/// A square linear operator on blocks of vectors: the interface through which solvers access a
/// matrix, a mass matrix or a preconditioner. rows() and apply() are sufficient; facts() makes
/// solvers faster and their error bounds sharper; three optional kernels save passes over memory.
/// One virtual call per block; solvers are compiled once per scalar and backend in the library. All
/// ranks call every function but rows() together.
///
/// A wrapper that does not change the values of an operator returns its facts(); a wrapper that
/// changes the values must not.
template <class Scalar, class Exec>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Order n of the operator; if its rows are distributed over ranks, the number of local rows.
  virtual std::int64_t rows() const = 0;

  /// Y = Op X on the instance `exec`, without a fence. X, Y: n x k, k >= 1, row-major, possibly a
  /// range of columns of a wider block; Y is overwritten (whatever its contents) and does not
  /// overlap X.
  virtual void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                     Block<Scalar, Exec> const& Y) const = 0;

  /// What is known without computation; a solve calls it once. Neither fences nor computes with
  /// entries.
  virtual OperatorFacts<Scalar, Exec> facts() const { return {}; }

  /// Y = Op X as apply, and for every column j, in the same pass,
  ///   x_dot_y(j) = sum_i conj(X(i, j)) Y(i, j)   and   y_dot_y(j) = sum_i w_i |Y(i, j)|^2
  /// (weights: w, n; empty: ones; y_dot_y empty: not computed), over the local rows: the caller
  /// sums over the ranks. Returns false, without effect, if this is not cheaper than apply and a
  /// pass over X and Y; the return value is the same for blocks of any width and on all ranks.
  virtual bool apply_dots(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                          Block<Scalar, Exec> const& Y,
                          OperatorValues<real_t<Scalar> const, Exec> const& weights,
                          OperatorValues<Scalar, Exec> const& x_dot_y,
                          OperatorValues<real_t<Scalar>, Exec> const& y_dot_y) const {
    (void)exec, (void)X, (void)Y, (void)weights, (void)x_dot_y, (void)y_dot_y;
    return false;
  }

  /// Performs the step in the kernel of the product: reads Z, R and Y once and writes Y, n x k,
  /// row-major; Y overlaps neither Z nor R. Returns false, without effect, if there is no such
  /// kernel.
  virtual bool apply_step(Exec const& exec, ConstBlock<Scalar, Exec> const& Z,
                          OperatorStep<Scalar, Exec> const& step,
                          Block<Scalar, Exec> const& Y) const {
    (void)exec, (void)Z, (void)step, (void)Y;
    return false;
  }

  /// Products with one column after which solvers on hosts call for_many_products(). For rows of
  /// equal length the same number of products amortizes its cost, for uneven rows fewer do. On
  /// devices it did not speed up whole solves (perf/notes/rows.md).
  static constexpr int many_products = 24;
  /// The same operator, with the same bits, in a form with faster products with one column; null if
  /// there is none, or no memory for it. It has the current values, and may refer to this operator.
  /// Costs about as much as five products, on devices 10 to 50; fences the instance.
  virtual std::shared_ptr<LinearOperator const> for_many_products(Exec const& exec) const {
    (void)exec;
    return nullptr;
  }

  /// facts().entries, or if null an object that declines everything.
  EntryAccess<Scalar, Exec> const& entries() const {
    static EntryAccess<Scalar, Exec> const unknown;
    auto const* const known = facts().entries;
    return known ? *known : unknown;
  }

  /// Shorthands for facts().row_space and facts().name.
  RowSpace row_space() const { return facts().row_space; }
  std::string name() const { return facts().name; }
};

/// A LinearOperator made of a callable f(exec, X, Y), which writes Y = Op X as
/// LinearOperator::apply requires, and of its facts.
template <class Scalar, class Exec, class Function>
class FunctionOperator final : public LinearOperator<Scalar, Exec> {
 public:
  FunctionOperator(std::int64_t rows, Function function, OperatorFacts<Scalar, Exec> facts)
      : rows_(rows), function_(std::move(function)), facts_(std::move(facts)) {}

  std::int64_t rows() const override { return rows_; }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    function_(exec, X, Y);
  }
  OperatorFacts<Scalar, Exec> facts() const override { return facts_; }

 private:
  std::int64_t rows_;
  Function function_;
  OperatorFacts<Scalar, Exec> facts_;
};

/// Wraps f(exec, X, Y), which is copied or moved in, as an operator of order `rows`. space: the
/// distribution of rows over ranks, if there are several; `rows` is then the number of local rows.
template <class Scalar, class Exec, class Function>
FunctionOperator<Scalar, Exec, Function> function_operator(std::int64_t rows, Function function,
                                                           std::string name = "function",
                                                           RowSpace space = {}) {
  OperatorFacts<Scalar, Exec> facts;
  facts.name = std::move(name);
  facts.row_space = std::move(space);
  return {rows, std::move(function), std::move(facts)};
}

namespace operators {

/// The facts of A with the defaults of terms_per_row and work filled in.
template <class Scalar, class Exec>
OperatorFacts<Scalar, Exec> facts_of(LinearOperator<Scalar, Exec> const& A) {
  auto facts = A.facts();
  if (!facts.terms_per_row) facts.terms_per_row = A.rows();
  if (!facts.work) facts.work = A.rows() * *facts.terms_per_row;
  return facts;
}

/// On hosts: counts the products of an operator with one column, and after many_products of them
/// replaces it by its for_many_products(). Not on devices, where products may be captured and must
/// not allocate: there solvers decide themselves.
template <class Scalar, class Exec>
class ManyProducts {
 public:
  using Operator = LinearOperator<Scalar, Exec>;

  /// The operator for the next product: A or its replacement. A: the same in every call.
  Operator const& next(Exec const& exec, Operator const& A) {
    if (support::runs_on_host_v<Exec> && products_ < Operator::many_products &&
        ++products_ == Operator::many_products)
      form_ = A.for_many_products(exec);
    return form_ ? *form_ : A;
  }
  /// Must be called when the values of A change.
  void forget() { *this = {}; }

 private:
  int products_ = 0;
  std::shared_ptr<Operator const> form_;
};

}  // namespace operators

}  // namespace blockspan
