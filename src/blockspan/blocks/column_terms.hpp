#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/real_view.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/scalar.hpp>

// The terms of reductions over rows (Terms of column_sums.hpp). Ref: a BlockRef of constant
// scalars.

namespace blockspan::blocks {

/// Whether columns are contiguous, or there is only one.
template <class Scalar, UnitStride unit>
KOKKOS_FORCEINLINE_FUNCTION bool goes_down(BlockRef<Scalar, unit> const& X) {
  if constexpr (unit == UnitStride::none)
    return X.row_stride < X.column_stride || X.columns == 1;
  else
    return unit == UnitStride::rows;
}

/// The real and imaginary part of conj(x) y. Written out, since complex operators may not
/// vectorize, and with an explicit multiply-add: what a compiler contracts depends on the width of
/// the block.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void product_parts(Scalar const& x, Scalar const& y,
                                               real_t<Scalar>* terms) {
  if constexpr (is_complex_v<Scalar>) {
    terms[0] = multiply_add(x.real(), y.real(), x.imag() * y.imag());
    terms[1] = multiply_add(x.real(), y.imag(), -(x.imag() * y.real()));
  } else {
    terms[0] = x * y;
  }
}

/// sum += conj(x) y
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void add_product(Scalar& sum, Scalar const& x, Scalar const& y) {
  real_t<Scalar> terms[parts<Scalar>];
  product_parts(x, y, terms);
  if constexpr (is_complex_v<Scalar>)
    sum = Scalar(sum.real() + terms[0], sum.imag() + terms[1]);
  else
    sum += terms[0];
}

/// The parts of conj(x) y and (Squares) w |y|^2, w the weight of the row (null: 1).
template <class Ref, bool Squares = false>
struct DotTerms {
  using Scalar = std::remove_cvref_t<decltype(std::declval<Ref const&>()(0, 0))>;
  using Real = real_t<Scalar>;
  static constexpr int count = parts<Scalar> + (Squares ? 1 : 0);

  Ref X, Y;
  Real const* weights = nullptr;

  KOKKOS_FORCEINLINE_FUNCTION bool down() const { return goes_down(Y); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Scalar const y = Y(i, j);
    product_parts(X(i, j), y, terms);
    if constexpr (Squares)
      terms[count - 1] = weights ? weights[i] * squared_magnitude(y) : squared_magnitude(y);
  }
};

/// |x|^2
template <class Ref>
struct SquareTerms {
  using Scalar = std::remove_cvref_t<decltype(std::declval<Ref const&>()(0, 0))>;
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  Ref X;

  KOKKOS_FORCEINLINE_FUNCTION bool down() const { return goes_down(X); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = squared_magnitude(X(i, j));
  }
};

/// total = the larger of both; NaN if one of them is.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void take_larger(Real& total, Real term) {
  if (term > total || term != term) total = term;
}

/// The larger magnitude of the real and the imaginary part; NaN if one of them is.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> largest_part(Scalar const& value) {
  real_t<Scalar> largest = Kokkos::abs(real_part(value));
  if constexpr (is_complex_v<Scalar>) take_larger(largest, Kokkos::abs(imaginary_part(value)));
  return largest;
}

/// Largest magnitude of real and imaginary parts; NaN if an entry is NaN.
template <class Scalar>
struct LargestTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = largest_part(X(i, j));
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { take_larger(total, term); }
};

/// Calls run(X, Y), on hosts with unit strides as compile-time constants, so that loops vectorize.
/// One column of contiguous rows is summed as a contiguous column, which is faster, unless it must
/// have the same bits alone as among other columns.
template <class Exec, class Scalar, class Run>
void with_strides(BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y, Run const& run,
                  bool same_bits_alone = false) {
  if constexpr (runs_on_host_v<Exec>) {
    if (X.column_stride == 1 && Y.column_stride == 1 && (X.columns > 1 || same_bits_alone))
      return run(with_unit_stride<UnitStride::columns>(X),
                 with_unit_stride<UnitStride::columns>(Y));
    if (X.row_stride == 1 && Y.row_stride == 1)
      return run(with_unit_stride<UnitStride::rows>(X), with_unit_stride<UnitStride::rows>(Y));
  }
  run(X, Y);
}

/// Stores the dot product of a column and, if requested, its square.
template <class Scalar, bool Squares>
struct StoreDots {
  using Real = real_t<Scalar>;
  static constexpr int count = parts<Scalar> + (Squares ? 1 : 0);

  Scalar* dots;
  std::int64_t stride;
  Real* squares = nullptr;
  std::int64_t squares_stride = 0;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* roots) const {
    if constexpr (is_complex_v<Scalar>)
      dots[j * stride] = Scalar(roots[0], roots[1]);
    else
      dots[j * stride] = roots[0];
    if constexpr (Squares) squares[j * squares_stride] = roots[count - 1];
  }
};

/// Stores the square root of a column's sum.
template <class Real>
struct StoreRoots {
  static constexpr int count = 1;
  BlockRef<Real> norms;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* roots) const {
    norms(j, 0) = Kokkos::sqrt(roots[0]);
  }
};

}  // namespace blockspan::blocks
