#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/solvers/cg/problem.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::krylov {

// The passes of the frame over B, X and the residuals, any layout, a few times a solve.

/// Residuals in the units of their right-hand sides: R(:, c) = b / unit - q for column columns[c]
/// of B, and its sum of squares. Where with_product[c] is zero q is not read (x = 0).
template <class Scalar>
struct TrueResidualTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> B, Q;
  BlockRef<Scalar> R;
  Real const* values;  ///< columns (exact as reals), 1 / units, with_product

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c, Real* terms) const {
    std::int64_t const width = R.columns;
    Scalar r = B(i, static_cast<std::int64_t>(values[c])) * values[width + c];
    if (values[2 * width + c] != Real(0)) r -= Q(i, c);
    R(i, c) = r;
    terms[0] = squared_magnitude(r);
  }
};

/// X(:, columns[c]) += E(:, c) scale. Where fresh[c], X is taken for zero; where save[c], the old
/// column goes to `best` first.
template <class Scalar>
struct AddCorrection {
  using Real = real_t<Scalar>;

  BlockRef<Scalar const> E;
  BlockRef<Scalar> X, best;
  Real const* values;  ///< columns, scales, fresh, save

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c) const {
    std::int64_t const width = E.columns;
    auto const j = static_cast<std::int64_t>(values[c]);
    Scalar& x = X(i, j);
    if (values[3 * width + c] != Real(0)) best(i, j) = x;
    Scalar const e = E(i, c) * values[width + c];
    x = values[2 * width + c] != Real(0) ? e : x + e;
  }
};

/// X(:, columns[c]) = from(:, c).
template <class Scalar>
struct PutColumns {
  BlockRef<Scalar const> from;
  BlockRef<Scalar> X;
  real_t<Scalar> const* columns;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c) const {
    X(i, static_cast<std::int64_t>(columns[c])) = from(i, c);
  }
};

/// X(:, columns[c]) *= factors[c]
template <class Scalar>
struct ScaleSome {
  BlockRef<Scalar> X;
  real_t<Scalar> const* values;  ///< columns, then factors
  std::int64_t width;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c) const {
    X(i, static_cast<std::int64_t>(values[c])) *= values[width + c];
  }
};

/// X(:, columns[c]) = from(:, columns[c]), or zero.
template <class Scalar>
struct RestoreColumns {
  using Real = real_t<Scalar>;

  BlockRef<Scalar const> from;
  BlockRef<Scalar> X;
  Real const* values;  ///< columns, then 1 where zero is wanted
  std::int64_t width;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c) const {
    auto const j = static_cast<std::int64_t>(values[c]);
    X(i, j) = values[width + c] != Real(0) ? Scalar(0) : from(i, j);
  }
};

/// value 2^exponent, for sizes whose squares over- or underflow.
struct ScaledSize {
  double value = 0;
  int exponent = 0;
};

/// ||x_j|| of the columns asked for. Synchronizes twice.
template <class Scalar, class Exec>
std::vector<ScaledSize> column_sizes(CgProblem<Scalar, Exec>& problem,
                                     BlockRef<Scalar const> const& X,
                                     std::vector<int> const& columns) {
  using Real = real_t<Scalar>;
  auto const largest = problem.fold("Blockspan::cg::largest", LargestTerms<Scalar>{X}, X.columns);
  std::vector<ScaledSize> sizes(static_cast<std::size_t>(X.columns));
  std::vector<Real> factors(static_cast<std::size_t>(X.columns), Real(1));
  for (int const j : columns)
    if (largest[j] > 0 && std::isfinite(largest[j])) {
      sizes[j].exponent = exponent_near(largest[j]);
      factors[j] = std::ldexp(Real(1), -sizes[j].exponent);
    }
  auto const squares = problem.fold(
      "Blockspan::cg::sizes", ScaledSquares<Scalar>{X, problem.on_device(factors)}, X.columns);
  for (int const j : columns) sizes[j].value = std::sqrt(static_cast<double>(squares[j]));
  return sizes;
}

/// The columns of X of one group: the iterate, and a copy of the best one verified so far where
/// that is another. Columns that were never written count as zero. Between scale(1 / units) and
/// scale(units) they are in the units of their right-hand sides, so that nothing of a solution
/// near the ends of the range is lost before the end.
template <class Scalar, class Exec>
class CgSolution {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;

  CgSolution(CgProblem<Scalar, Exec>& problem, BlockRef<Scalar> const& X, bool holds_guess)
      : problem_(problem),
        x_(X),
        zero_(X.columns, !holds_guess),
        best_here_(X.columns, true),
        best_zero_(X.columns, false) {}

  BlockRef<Scalar> const& x() const { return x_; }
  bool is_zero(int j) const { return zero_[j]; }

  /// x_j = 0 from now on.
  void set_zero(int j) { zero_[j] = true; }

  /// Whether the iterate of column j is the best one.
  void note(int j, bool is_best) { best_here_[j] = is_best; }

  /// x_j *= factors[c] with j = columns[c], but for those that are zero.
  void scale(std::vector<int> const& columns, std::vector<Real> const& factors) {
    values_.clear();
    for (int const j : columns)
      if (!zero_[j]) values_.push_back(static_cast<Real>(j));
    auto const count = static_cast<std::int64_t>(values_.size());
    if (count == 0) return;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (!zero_[columns[c]]) values_.push_back(factors[c]);
    auto const target = column_range(x_, 0, count);
    for_each_entry(problem_.exec, "Blockspan::cg::units", target,
                   ScaleSome<Scalar>{x_, problem_.on_device(values_), count});
    problem_.synchronize("Blockspan::cg: values of the host");
  }

  /// The columns, side by side. Those that are zero get what X holds: not to be used.
  void gather(std::vector<int> const& columns, View const& to) { gather(columns, {}, to); }
  void gather(std::vector<int> const& columns, std::vector<Real> const& factors, View const& to) {
    problem_.select_scaled(x_, columns, factors, to);
  }

  /// What gather() brought, changed, as the columns again.
  void put_back(std::vector<int> const& columns, View const& from) {
    values_.assign(columns.begin(), columns.end());
    auto const source = block_ref<Exec>(from);
    for_each_entry(problem_.exec, "Blockspan::cg::put_back", source,
                   PutColumns<Scalar>{source, x_, problem_.on_device(values_)});
    problem_.synchronize("Blockspan::cg: values of the host");
  }

  /// x_j += e_c scales[c] with j = columns[c].
  void add(View const& E, std::vector<int> const& columns, std::vector<Real> const& scales) {
    if (columns.empty()) return;
    bool any = false;
    values_.assign(columns.begin(), columns.end());
    values_.insert(values_.end(), scales.begin(), scales.end());
    for (int const j : columns) values_.push_back(zero_[j] ? 1 : 0);
    for (int const j : columns) {
      bool const save = best_here_[j] && !zero_[j];
      values_.push_back(save ? 1 : 0);
      any = any || save;
      if (best_here_[j]) best_zero_[j] = zero_[j];
      best_here_[j] = zero_[j] = false;
    }
    if (any && best_.extent(1) == 0)
      best_ = allocate<View>(problem_.exec, "Blockspan::cg::best", x_.rows, x_.columns);
    auto const e = block_ref<Exec>(E);
    for_each_entry(
        problem_.exec, "Blockspan::cg::add_correction", e,
        AddCorrection<Scalar>{e, x_, block_ref<Exec>(best_), problem_.on_device(values_)});
    problem_.synchronize("Blockspan::cg: values of the host");
  }

  /// Brings back the best iterates of these columns.
  void restore(std::vector<int> const& columns) {
    values_.clear();
    for (int const j : columns)
      if (!best_here_[j] || zero_[j]) values_.push_back(static_cast<Real>(j));
    auto const count = static_cast<std::int64_t>(values_.size());
    if (count == 0) return;
    for (std::int64_t c = 0; c < count; ++c) {
      auto const j = static_cast<std::size_t>(values_[c]);
      if (!best_here_[j]) zero_[j] = best_zero_[j];
      best_here_[j] = true;
      values_.push_back(zero_[j] ? 1 : 0);
    }
    auto const target = column_range(x_, 0, count);
    for_each_entry(
        problem_.exec, "Blockspan::cg::restore", target,
        RestoreColumns<Scalar>{block_ref<Exec>(best_), x_, problem_.on_device(values_), count});
    problem_.synchronize("Blockspan::cg: values of the host");
  }

 private:
  CgProblem<Scalar, Exec>& problem_;
  BlockRef<Scalar> x_;
  View best_;
  std::vector<Real> values_;
  std::vector<bool> zero_, best_here_, best_zero_;
};

}  // namespace blockspan::krylov
