#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

namespace blockspan::test {

/// A deterministic stream of numbers (SplitMix64; Steele, Lea, Flood 2014,
/// doi:10.1145/2660193.2660195): the same on every platform, unlike std::uniform_real_distribution.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// An integer in [0, bound), bound >= 1.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(bound));
  }

  /// A number in [-1, 1); both parts for a complex scalar.
  template <class Scalar>
  Scalar value() {
    using Real = real_t<Scalar>;
    auto const part = [this] {
      return static_cast<Real>(static_cast<double>(bits() >> 40) * 0x1p-23 - 1.0);
    };
    if constexpr (is_complex_v<Scalar>) {
      Real const re = part();
      return Scalar(re, part());
    } else {
      return part();
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace blockspan::test
