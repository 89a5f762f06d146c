#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Macros.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <blockspan/support/rooms.hpp>

namespace blockspan {

/// Smallest integer >= a / b, for a >= 0 and b > 0, without overflow.
template <class Integer>
KOKKOS_FORCEINLINE_FUNCTION constexpr Integer ceil_div(Integer a, std::type_identity_t<Integer> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// ceil(log2(count)), but at most `most`.
inline int bits_to_hold(std::int64_t count, int most) {
  int bits = 0;
  while (bits < most && (std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// Division of n, 0 <= n < most, by a divisor that is fixed before a loop. For most <= 2^31 it is a
/// multiplication: floor(n / d) = floor(n m / 2^(31 + s)) with 2^s >= d and m = ceil(2^(31 + s) /
/// d) (Granlund and Montgomery 1994, doi:10.1145/178243.178249).
class Divisor {
 public:
  Divisor(std::int64_t divisor, std::int64_t most) : divisor_(divisor) {
    if (most > (std::int64_t{1} << 31) || divisor > most) return;
    shift_ = 31 + bits_to_hold(divisor, 31);
    multiplier_ = static_cast<std::uint64_t>(ceil_div(std::int64_t{1} << shift_, divisor));
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t divisor() const { return divisor_; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t quotient(std::int64_t n) const {
    if (multiplier_ == 0) return n / divisor_;
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(n) * multiplier_) >> shift_);
  }

 private:
  std::int64_t divisor_;
  std::uint64_t multiplier_ = 0;  ///< 0: divides
  int shift_ = 0;
};

namespace support {

/// a b + c with a fused multiply-add where the processor has one, whether or not the compiler
/// contracts the surrounding expression.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real multiply_add(Real a, std::type_identity_t<Real> b,
                                              std::type_identity_t<Real> c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return Kokkos::fma(a, b, c);
#else
  KOKKOS_IF_ON_HOST((return a * b + c;))
  KOKKOS_IF_ON_DEVICE((return Kokkos::fma(a, b, c);))
#endif
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195): a
/// bijection of 64 bits whose output bits depend on all input bits.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// The increment of that generator's counter.
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

}  // namespace support
}  // namespace blockspan
