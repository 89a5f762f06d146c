#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>

// On hosts compiled without contraction of products and sums; device code uses explicitly rounded
// intrinsics.
namespace blockspan::operators {

/// a b, rounded: never contracted with a following addition.
KOKKOS_FORCEINLINE_FUNCTION double rounded_product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// A sum of products of doubles as an unevaluated sum of two doubles, as accurate as in twice the
/// working precision. Ogita, Rump and Oishi 2005, doi:10.1137/030601818 (Dot2).
class SumInTwo {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit SumInTwo(double start) : high_(start) {}
  KOKKOS_FORCEINLINE_FUNCTION void subtract(double a, double b) {
    double const product = rounded_product(-a, b), rest = Kokkos::fma(-a, b, -product);
    double const sum = high_ + product, part = sum - high_;
    low_ += ((high_ - (sum - part)) + (product - part)) + rest;
    high_ = sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION double value() const {
    return Kokkos::isfinite(low_) ? high_ + low_ : high_;
  }

 private:
  double high_, low_ = 0;
};

/// The same for floats, whose products are exact in double.
class SumInDouble {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit SumInDouble(float start) : sum_(start) {}
  KOKKOS_FORCEINLINE_FUNCTION void subtract(float a, float b) {
    sum_ -= static_cast<double>(a) * static_cast<double>(b);
  }
  KOKKOS_FORCEINLINE_FUNCTION float value() const { return static_cast<float>(sum_); }

 private:
  double sum_;
};

/// R(i, j) -= sum over k of a_ik x_kj
template <class Scalar, class Offset, class Ordinal>
struct SubtractProduct {
  using Real = real_t<Scalar>;
  using Sum = std::conditional_t<sizeof(Real) == sizeof(double), SumInTwo, SumInDouble>;

  MatrixRef<Scalar, Offset, Ordinal> A;
  BlockRef<Scalar const> X;
  BlockRef<Scalar> R;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    Sum real(real_part(R(i, j))), imaginary(imaginary_part(R(i, j)));
    for (Offset k = A.pattern.row_offsets[i]; k < A.pattern.row_offsets[i + 1]; ++k) {
      Scalar const a = A.values[k], x = X(A.pattern.column_indices[k], j);
      real.subtract(real_part(a), real_part(x));
      if constexpr (is_complex_v<Scalar>) {
        real.subtract(-imaginary_part(a), imaginary_part(x));
        imaginary.subtract(real_part(a), imaginary_part(x));
        imaginary.subtract(imaginary_part(a), real_part(x));
      }
    }
    if constexpr (is_complex_v<Scalar>)
      R(i, j) = Scalar(real.value(), imaginary.value());
    else
      R(i, j) = real.value();
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
void subtract_product(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                      BlockRef<Scalar const> const& X, BlockRef<Scalar> const& R) {
  for_each_entry(exec, "Blockspan::accurate_residual", R,
                 SubtractProduct<Scalar, Offset, Ordinal>{A, X, R});
}

}  // namespace blockspan::operators
