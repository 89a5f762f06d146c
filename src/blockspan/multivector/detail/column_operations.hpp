#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

// What a reduction down the columns adds up: start, one pair of entries, two partial results, the
// end.

namespace blockspan::detail {

template <class Scalar>
struct SumOfSquares {
  using Value = real_t<Scalar>;
  using Result = real_t<Scalar>;
  static constexpr char const* label = "Blockspan::column_norms";
  static constexpr bool two_blocks = false;

  KOKKOS_FORCEINLINE_FUNCTION static void add(Value& sum, Scalar const& x, Scalar const&) {
    sum += squared_magnitude(x);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(Value& sum, Value const& other) { sum += other; }
  KOKKOS_FORCEINLINE_FUNCTION static Result finish(Value const& sum) { return Kokkos::sqrt(sum); }
};

template <class Scalar>
struct InnerProduct {
  using Value = Scalar;
  using Result = Scalar;
  static constexpr char const* label = "Blockspan::column_dots";
  static constexpr bool two_blocks = true;

  /// Written out, since complex operators may not vectorize.
  KOKKOS_FORCEINLINE_FUNCTION static void add(Value& sum, Scalar const& x, Scalar const& y) {
    if constexpr (is_complex_v<Scalar>)
      sum = Scalar(sum.real() + (x.real() * y.real() + x.imag() * y.imag()),
                   sum.imag() + (x.real() * y.imag() - x.imag() * y.real()));
    else
      sum += x * y;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(Value& sum, Value const& other) { sum += other; }
  KOKKOS_FORCEINLINE_FUNCTION static Result finish(Value const& sum) { return sum; }
};

/// The largest part in magnitude; infinite if some entry is not finite.
template <class Scalar>
struct LargestPart {
  using Value = real_t<Scalar>;
  using Result = real_t<Scalar>;
  static constexpr char const* label = "Blockspan::column_maxima";
  static constexpr bool two_blocks = false;

  KOKKOS_FORCEINLINE_FUNCTION static void add(Value& largest, Scalar const& x, Scalar const&) {
    join(largest, magnitude(real_part(x)));
    if constexpr (is_complex_v<Scalar>) join(largest, magnitude(imaginary_part(x)));
  }
  /// Comparisons with NaN are false, so a NaN is found by what it is not.
  KOKKOS_FORCEINLINE_FUNCTION static Value magnitude(Value x) {
    Value const absolute = x < 0 ? -x : x;
    return absolute >= 0 ? absolute : Kokkos::Experimental::infinity<Value>::value;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(Value& largest, Value const& other) {
    largest = other > largest ? other : largest;
  }
  KOKKOS_FORCEINLINE_FUNCTION static Result finish(Value const& largest) { return largest; }
};

}  // namespace blockspan::detail
