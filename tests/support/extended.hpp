#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

namespace blockspan::test {

/// The arithmetic of references: at least 11 bits more than double.
template <class Scalar>
using extended_t = std::conditional_t<is_complex_v<Scalar>, std::complex<long double>, long double>;

template <class Scalar>
extended_t<Scalar> extended(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return {static_cast<long double>(x.real()), static_cast<long double>(x.imag())};
  else
    return static_cast<long double>(x);
}

inline long double conjugate(long double x) { return x; }
inline std::complex<long double> conjugate(std::complex<long double> const& x) {
  return std::conj(x);
}

/// |x| in extended precision.
template <class Scalar>
long double magnitude(Scalar const& x) {
  return std::abs(extended(x));
}

/// gamma_m = m u / (1 - m u), the relative error of a sum of m products in any order (Higham 2002,
/// Accuracy and Stability of Numerical Algorithms, section 3.1); m is doubled for complex scalars.
/// Infinite where m u >= 1, that is, where theory promises nothing.
template <class Scalar>
long double gamma_bound(std::int64_t m) {
  long double const factor = is_complex_v<Scalar> ? 2 : 1;
  long double const mu = factor * static_cast<long double>(m) * unit_roundoff<Scalar>;
  return mu < 1 ? mu / (1 - mu) : HUGE_VALL;
}

}  // namespace blockspan::test
