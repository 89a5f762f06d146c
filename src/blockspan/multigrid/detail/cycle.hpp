#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/multigrid/detail/hierarchy.hpp>
#include <blockspan/multivector/detail/entries.hpp>
#include <blockspan/spmm/spmm.hpp>

namespace blockspan::detail {

/// to := factor from, rounded.
template <class Exec, class From, class To>
void round_values(Exec const& exec, From const& from,
                  real_t<typename From::non_const_value_type> factor, To const& to) {
  using Target = typename To::non_const_value_type;
  using Source = typename From::non_const_value_type;
  each(
      exec, "Blockspan::multigrid_round", static_cast<std::int64_t>(to.extent(0)),
      KOKKOS_LAMBDA(std::int64_t k) { to(k) = convert_scalar<Target>(Source(factor * from(k))); });
}

/// The V cycle over the matrices of a hierarchy, in their precision or rounded to a lower one. On
/// each level r -> z:
///   1. z = S r                         2. z += P cycle(R (r - A z))         3. z += S (r - A z)
/// with the Chebyshev polynomial S = q(W A) W; on the last one z = A^-1 r. So the cycle is
/// Hermitian, and positive definite since S and the contraction I - S A of it are.
template <class Number, class Exec>
class Cycle {
 public:
  using Real = real_t<Number>;
  using Matrix = CrsMatrix<Number, Exec>;

  /// The matrices are `factor` times those of the hierarchy: the cycle divides by it.
  template <class Scalar>
  Cycle(Exec const& exec, Hierarchy<Scalar, Exec> const& hierarchy, int degree, int columns,
        real_t<Scalar> factor)
      : degree_(degree), columns_(columns), levels_(hierarchy.levels.size()) {
    for (std::size_t l = 0; l < levels_.size(); ++l) make(exec, hierarchy, l, factor);
  }

  /// Other values of the same hierarchy.
  template <class Scalar>
  void refresh(Exec const& exec, Hierarchy<Scalar, Exec> const& hierarchy, real_t<Scalar> factor) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      auto& level = levels_[l];
      auto const& from = hierarchy.levels[l];
      if constexpr (!std::is_same_v<Scalar, Number>) {
        bool const last = l + 1 == levels_.size();
        round_values(exec, last && level.exact ? hierarchy.inverse.values : from.A.values,
                     last && level.exact ? 1 / factor : factor, level.A->matrix().values);
        if (!last) round_values(exec, from.P, 1, level.P.values);
        if (!last) round_values(exec, from.R, 1, level.R.values);
      }
      if (level.smoother)
        level.smoother->refresh(weights(exec, from, factor), lower(level, from), upper(from));
    }
    exec.fence("Blockspan::multigrid_refresh");
  }

  /// Level 0 of the hierarchy has become another matrix (whose numbers are read as they are).
  void replace_first(Exec const& exec, Hierarchy<Number, Exec> const& hierarchy) {
    make(exec, hierarchy, 0, 1);
  }

  /// Y = M^-1 X, rows contiguous. Allocates where X is wider than before.
  void apply(Exec const& exec, ConstBlock<Number, Exec> const& X,
             Block<Number, Exec> const& Y) const {
    if (X.extent(1) > static_cast<std::size_t>(widest_)) widen(exec, X.extent(1));
    cycle(exec, 0, X, Y);
  }

 private:
  using Operator = MatrixOperator<Number, Exec>;
  using Plan = SpmmPlan<Exec, int, int>;
  using Vectors = Block<Number, Exec>;

  struct Level {
    std::shared_ptr<Operator const> A;  ///< of the last one the inverse, if `exact`
    Matrix P, R;
    std::optional<Plan> p, r;
    std::unique_ptr<ChebyshevPreconditioner<Number, Exec>> smoother;
    bool exact = false;
    Vectors residual, correction;  ///< of this level
    Vectors rhs, solution;         ///< of this level, for the one above; none on the first
  };

  template <class Scalar>
  void make(Exec const& exec, Hierarchy<Scalar, Exec> const& hierarchy, std::size_t l,
            real_t<Scalar> factor) {
    auto& level = levels_[l];
    auto const& from = hierarchy.levels[l];
    bool const last = l + 1 == levels_.size();
    level.exact = last && hierarchy.report.exact_last;
    if (level.exact)
      level.A = as_operator(exec, copy<Scalar>(exec, hierarchy.inverse, 1 / factor));
    else if constexpr (std::is_same_v<Scalar, Number>)
      level.A = from.op;
    else
      level.A = as_operator(exec, copy<Scalar>(exec, from.A, factor));
    if (!level.exact)
      level.smoother = std::make_unique<ChebyshevPreconditioner<Number, Exec>>(
          *level.A, weights(exec, from, factor), lower(level, from), upper(from),
          last ? 8 : degree_);
    if (last) return;
    level.P = copy<Scalar>(exec, from.P_matrix(), 1);
    level.R = copy<Scalar>(exec, from.R_matrix(), 1);
    SpmmPlanOptions const options{.columns = columns_};
    level.p.emplace(exec, level.P, options);
    level.r.emplace(exec, level.R, options);
  }

  std::shared_ptr<Operator const> as_operator(Exec const& exec, Matrix const& A) const {
    return std::make_shared<Operator const>(exec, A, SpmmPlanOptions{.columns = columns_});
  }

  /// The matrix itself, or one of the same pattern with rounded values.
  template <class Scalar>
  static Matrix copy(Exec const& exec, CrsMatrix<Scalar, Exec> const& A, real_t<Scalar> factor) {
    if constexpr (std::is_same_v<Scalar, Number>) {
      return A;
    } else {
      auto const values = new_array<Number>(exec, static_cast<std::int64_t>(A.nnz()));
      round_values(exec, A.values, factor, values);
      return Matrix("Blockspan::multigrid", A.numRows(), A.numCols(), static_cast<int>(A.nnz()),
                    values, A.graph.row_map, A.graph.entries);
    }
  }

  /// W of factor A.
  template <class Scalar>
  static auto weights(Exec const& exec, HierarchyLevel<Scalar, Exec> const& from,
                      real_t<Scalar> factor) {
    if constexpr (std::is_same_v<Scalar, Number>) {
      return from.spectrum.factors;
    } else {
      using Factors = typename JacobiPreconditioner<Number, Exec>::Factors;
      auto const W = from.spectrum.factors;
      auto const result = allocate<Factors>(exec, "Blockspan::multigrid", W.extent(0));
      round_values(exec, W, 1 / factor, result);
      return result;
    }
  }

  template <class Scalar>
  static Real upper(HierarchyLevel<Scalar, Exec> const& from) {
    return from.spectrum.upper > 0 ? static_cast<Real>(from.spectrum.upper) : Real(1);
  }
  template <class Scalar>
  Real lower(Level const& level, HierarchyLevel<Scalar, Exec> const& from) const {
    static constexpr Real ratio[] = {4, 8, 14, 20};
    bool const last = &level == &levels_.back();
    return upper(from) / (last ? Real(100) : ratio[degree_ - 1]);
  }

  void widen(Exec const& exec, std::size_t columns) const {
    exec.fence("Blockspan::multigrid grows");
    widest_ = 0;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      auto& level = levels_[l];
      auto const take = [&](Vectors& block) {
        block = {};
        block = allocate<Vectors>(exec, "Blockspan::multigrid", level.A->rows(), columns);
      };
      if (l + 1 < levels_.size()) take(level.residual), take(level.correction);
      if (l > 0) take(level.rhs), take(level.solution);
    }
    widest_ = static_cast<int>(columns);
  }

  /// A block of k columns in memory for more, its rows contiguous.
  static Vectors narrow(Vectors const& block, std::size_t columns) {
    return Vectors(block.data(), block.extent(0), columns);
  }

  void cycle(Exec const& exec, std::size_t l, ConstBlock<Number, Exec> const& R,
             Vectors const& Z) const {
    auto const& level = levels_[l];
    if (l + 1 == levels_.size()) {
      if (level.exact)
        level.A->apply(exec, R, Z);
      else
        level.smoother->apply(exec, R, Z);
      return;
    }
    std::size_t const k = R.extent(1);
    auto const residual = narrow(level.residual, k), correction = narrow(level.correction, k);
    auto const rhs = narrow(levels_[l + 1].rhs, k), solution = narrow(levels_[l + 1].solution, k);
    level.smoother->apply(exec, R, Z);
    subtract_product(exec, level, R, Z, residual);
    spmm(exec, *level.r, Op::none, Number(1), level.R, residual, Number(0), rhs);
    cycle(exec, l + 1, rhs, solution);
    spmm(exec, *level.p, Op::none, Number(1), level.P, solution, Number(1), Z);
    smooth(exec, level, R, Z, residual, correction);
  }

  /// Z += q(W A) W (R - A Z), the polynomial of the smoother, as its recurrence from Z on: a
  /// product and a pass a degree, where the polynomial of a residual takes a copy and an addition
  /// more.
  void smooth(Exec const& exec, Level const& level, ConstBlock<Number, Exec> const& R,
              Vectors const& Z, Vectors const& image, Vectors const& other) const {
    Real const middle = (level.smoother->upper() + level.smoother->lower()) / 2;
    Real const half = (level.smoother->upper() - level.smoother->lower()) / 2;
    Real const sigma = middle / half;
    Real rho = 1 / sigma;
    for (int i = 1; i <= degree_; ++i) {
      auto const& from = i % 2 == 1 ? Z : other;
      auto const& to = i % 2 == 1 ? other : Z;
      Real const next = 1 / (2 * sigma - rho);
      OperatorStep<Number, Exec> step{R, level.smoother->factors(), 1 / middle};
      if (i > 1) step = {R, level.smoother->factors(), 2 * next / half, next * rho, true, true};
      take_step<Exec, Number>(exec, *level.A, step, from, to, [&] { return image; });
      if (i > 1) rho = next;
    }
    if (degree_ % 2 == 1)
      copy_block<Exec, Number>(exec, block_ref<Exec>(ConstBlock<Number, Exec>(other)),
                               block_ref<Exec>(Z));
  }

  /// residual := R - A Z.
  static void subtract_product(Exec const& exec, Level const& level,
                               ConstBlock<Number, Exec> const& R, Vectors const& Z,
                               Vectors const& residual) {
    take_step<Exec, Number>(exec, *level.A, {.R = R, .keeps = false}, Z, residual,
                            [&] { return residual; });
  }

  int degree_, columns_;
  mutable std::vector<Level> levels_;
  mutable int widest_ = 0;
};

}  // namespace blockspan::detail
