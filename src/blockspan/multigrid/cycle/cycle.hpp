#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/multigrid/cycle/v_cycle.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>

namespace blockspan::levels {

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

/// factor A with the same pattern, rounded; A itself where it has such numbers.
template <class Number, class Scalar, class Exec>
CrsMatrix<Number, Exec> rounded(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                real_t<Scalar> factor) {
  if constexpr (std::is_same_v<Scalar, Number>) {
    return A;
  } else {
    auto const values = new_array<Number>(exec, static_cast<std::int64_t>(A.nnz()));
    round_values(exec, A.values, factor, values);
    return CrsMatrix<Number, Exec>("Blockspan::multigrid", A.numRows(), A.numCols(),
                                   static_cast<int>(A.nnz()), values, A.graph.row_map,
                                   A.graph.entries);
  }
}

/// factor W, for Jacobi, rounded; W itself where it has such numbers.
template <class Number, class Exec, class Weights>
auto rounded_weights(Exec const& exec, Weights const& W, typename Weights::value_type factor) {
  using Factors = typename JacobiPreconditioner<Number, Exec>::Factors;
  if constexpr (std::is_same_v<Factors, Weights>) {
    return W;
  } else {
    auto const result = allocate<Factors>(exec, "Blockspan::multigrid", W.extent(0));
    round_values(exec, W, factor, result);
    return result;
  }
}

/// The V cycle over the matrices of a hierarchy, in their precision or rounded to a lower one. The
/// last level is solved by its inverse, or smoothed.
template <class Number, class Exec>
class Cycle {
 public:
  using Real = real_t<Number>;
  using Matrix = CrsMatrix<Number, Exec>;

  /// The matrices are `factor` times those of the hierarchy: the cycle divides by it.
  template <class Scalar>
  Cycle(Exec const& exec, Hierarchy<Scalar, Exec> const& hierarchy, int degree, int columns,
        real_t<Scalar> factor)
      : degree_(degree), columns_(columns), cycle_(degree) {
    cycle_.levels.resize(hierarchy.levels.size());
    for (std::size_t l = 0; l < cycle_.levels.size(); ++l) make(exec, hierarchy, l, factor);
  }

  /// Other values of the same hierarchy.
  template <class Scalar>
  void refresh(Exec const& exec, Hierarchy<Scalar, Exec> const& hierarchy, real_t<Scalar> factor) {
    for (std::size_t l = 0; l < cycle_.levels.size(); ++l) {
      auto& level = cycle_.levels[l];
      auto const& from = hierarchy.levels[l];
      if constexpr (!std::is_same_v<Scalar, Number>) {
        bool const last = l + 1 == cycle_.levels.size();
        bool const exact = last && hierarchy.report.exact_last;
        round_values(exec, exact ? hierarchy.inverse.values : from.A.values,
                     exact ? 1 / factor : factor, level.A->matrix().values);
        if (!last) round_values(exec, from.P, 1, level.P.values);
        if (!last) round_values(exec, from.R, 1, level.R.values);
      }
      if (level.smoother) {
        auto const [lower, upper] = interval(from, level.solver != nullptr);
        level.smoother->refresh(weights(exec, from, factor), lower, upper);
      }
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
    cycle_.apply(exec, X, Y);
  }

 private:
  using Operator = MatrixOperator<Number, Exec>;
  using Levels = VCycle<Number, Exec, Operator>;
  using Smoother = typename Levels::Level::Smoother;

  template <class Scalar>
  void make(Exec const& exec, Hierarchy<Scalar, Exec> const& hierarchy, std::size_t l,
            real_t<Scalar> factor) {
    auto& level = cycle_.levels[l];
    auto const& from = hierarchy.levels[l];
    bool const last = l + 1 == cycle_.levels.size();
    bool const exact = last && hierarchy.report.exact_last;
    level.rows = from.A.numRows();
    if (exact)
      level.A = as_operator(exec, rounded<Number>(exec, hierarchy.inverse, 1 / factor));
    else if constexpr (std::is_same_v<Scalar, Number>)
      level.A = from.op;
    else
      level.A = as_operator(exec, rounded<Number>(exec, from.A, factor));
    if (!exact) {
      auto const [lower, upper] = interval(from, last);
      level.smoother = std::make_shared<Smoother>(*level.A, weights(exec, from, factor), lower,
                                                  upper, last ? 8 : degree_);
    }
    if (last) {
      if (exact)
        level.solver = level.A;
      else
        level.solver = level.smoother;
      return;
    }
    level.P = rounded<Number>(exec, from.P_matrix(), 1);
    level.R = rounded<Number>(exec, from.R_matrix(), 1);
    plan_transfers(exec, level, columns_);
  }

  std::shared_ptr<Operator const> as_operator(Exec const& exec, Matrix const& A) const {
    return std::make_shared<Operator const>(exec, A, SpmmPlanOptions{.columns = columns_});
  }

  /// W of factor A.
  template <class Scalar>
  static auto weights(Exec const& exec, HierarchyLevel<Scalar, Exec> const& from,
                      real_t<Scalar> factor) {
    return rounded_weights<Number, Exec>(exec, from.spectrum.factors, 1 / factor);
  }

  /// Of a level's smoother, and of one that stands for the solution on the last level.
  template <class Scalar>
  std::pair<Real, Real> interval(HierarchyLevel<Scalar, Exec> const& from, bool last) const {
    Real const upper = from.spectrum.upper > 0 ? static_cast<Real>(from.spectrum.upper) : Real(1);
    return {last ? upper / Real(100) : cycle_.lower(upper), upper};
  }

  int degree_, columns_;
  Levels cycle_;
};

}  // namespace blockspan::levels
