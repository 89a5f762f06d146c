#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/rooms.hpp>

// The scalars of the library and their traits: float, double, and Kokkos::complex of them; types of
// 16 bits are stored only.

namespace blockspan {

namespace support {
template <class Scalar>
struct ScalarTraits {
  static_assert(std::is_floating_point_v<Scalar>, "a scalar is float, double or Kokkos::complex");
  using Real = Scalar;
  static constexpr bool is_complex = false;
};
template <class T>
struct ScalarTraits<Kokkos::complex<T>> {
  using Real = T;
  static constexpr bool is_complex = true;
};
}  // namespace support

/// The real type beneath a scalar: real_t<Kokkos::complex<float>> is float.
template <class Scalar>
using real_t = typename support::ScalarTraits<std::remove_cv_t<Scalar>>::Real;

template <class Scalar>
inline constexpr bool is_complex_v = support::ScalarTraits<std::remove_cv_t<Scalar>>::is_complex;

/// The scalar in single precision: single_t<Kokkos::complex<double>> is Kokkos::complex<float>.
template <class Scalar>
using single_t = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<float>, float>;

/// Unit roundoff u of the scalar's arithmetic: half the distance from 1 to the next larger value.
template <class Scalar>
inline constexpr real_t<Scalar> unit_roundoff =
    std::numeric_limits<real_t<Scalar>>::epsilon() / real_t<Scalar>(2);

template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar conjugate(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return Scalar(x.real(), -x.imag());
  else
    return x;
}

/// The conjugate if `asked`, else x.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar conjugate_if(bool asked, Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return asked ? conjugate(x) : x;
  else
    return x;
}

template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> real_part(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return x.real();
  else
    return x;
}

template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> imaginary_part(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return x.imag();
  else
    return real_t<Scalar>(0);
}

template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION bool is_finite(Scalar const& x) {
  return Kokkos::isfinite(real_part(x)) && Kokkos::isfinite(imaginary_part(x));
}

/// x rounded to another precision; a real number may become a complex one.
template <class Target, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Target convert_scalar(Scalar const& x) {
  static_assert(is_complex_v<Target> || !is_complex_v<Scalar>,
                "a complex number has no real counterpart");
  using Real = real_t<Target>;
  if constexpr (is_complex_v<Scalar>)
    return Target(static_cast<Real>(x.real()), static_cast<Real>(x.imag()));
  else
    return Target(static_cast<Real>(x));
}

/// |x|^2 without a square root.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> squared_magnitude(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return x.real() * x.real() + x.imag() * x.imag();
  else
    return x * x;
}

namespace support {

/// Properties of a scalar type at run time.
struct ScalarKind {
  std::size_t bytes;
  bool is_double;  ///< of double precision, complex or not
  bool is_complex;

  /// 16-bit scalars have kernels for whole rows and segments only.
  bool is_sixteen_bit() const { return bytes < sizeof(float); }

  bool operator==(ScalarKind const&) const = default;
};

/// The kind of a scalar of which only the size is given: from 8 bytes on double precision, above 8
/// complex.
constexpr ScalarKind scalar_of_bytes(std::size_t bytes) {
  return {bytes, bytes >= sizeof(double), bytes > sizeof(double)};
}

template <class Scalar>
constexpr ScalarKind scalar_kind() {
  return {sizeof(Scalar), std::is_same_v<real_t<Scalar>, double>, is_complex_v<Scalar>};
}

}  // namespace support

}  // namespace blockspan
