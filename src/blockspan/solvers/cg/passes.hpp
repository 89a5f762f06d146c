#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

// The passes of the frame over B, X and the residuals, any layout, a few times a solve.

/// Residuals in the units of their right-hand sides: R(:, c) = (b - q) / unit for column
/// columns[c] of B, and its sum of squares. Where with_product[c] is zero q is not read (x = 0).
template <class Scalar>
struct TrueResidualTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> B, Q;
  BlockRef<Scalar> R;
  Real const* numbers;  ///< columns (exact as reals), 1 / units, with_product

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c, Real* terms) const {
    std::int64_t const width = R.columns;
    Real const inverse = numbers[width + c];
    Scalar r = B(i, static_cast<std::int64_t>(numbers[c])) * inverse;
    if (numbers[2 * width + c] != Real(0)) r -= Q(i, c) * inverse;
    R(i, c) = r;
    terms[0] = squared_magnitude(r);
  }
};

/// Sums of squares of the scaled columns of X.
template <class Scalar>
struct ScaledSquares {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X;
  Real const* factors;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = squared_magnitude(Scalar(X(i, j) * factors[j]));
  }
};

/// X(:, columns[c]) += E(:, c) scale unit, in this order, since the product of both may overflow.
/// Where fresh[c], X is taken for zero; where save[c], the old column goes to `best` first.
template <class Scalar>
struct AddCorrection {
  using Real = real_t<Scalar>;

  BlockRef<Scalar const> E;
  BlockRef<Scalar> X, best;
  Real const* numbers;  ///< columns, scales, units, fresh, save

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c) const {
    std::int64_t const width = E.columns;
    auto const j = static_cast<std::int64_t>(numbers[c]);
    Scalar& x = X(i, j);
    if (numbers[4 * width + c] != Real(0)) best(i, j) = x;
    Scalar const e = E(i, c) * numbers[width + c] * numbers[2 * width + c];
    x = numbers[3 * width + c] != Real(0) ? e : x + e;
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

/// X(:, columns[c]) = from(:, columns[c]), or zero.
template <class Scalar>
struct RestoreColumns {
  using Real = real_t<Scalar>;

  BlockRef<Scalar const> from;
  BlockRef<Scalar> X;
  Real const* numbers;  ///< columns, then 1 where zero is wanted
  std::int64_t width;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t c) const {
    auto const j = static_cast<std::int64_t>(numbers[c]);
    X(i, j) = numbers[width + c] != Real(0) ? Scalar(0) : from(i, j);
  }
};

}  // namespace blockspan::detail
