// Conversions between float and numbers of 16 bits, against the definitions of their formats.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/support/registers/sixteen_bit.hpp>

#include "support/random.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

/// Bits of exponent and fraction.
template <class Stored>
inline constexpr int exponent_bits = 5;
template <>
inline constexpr int exponent_bits<bfloat16> = 8;
template <class Stored>
inline constexpr int fraction_bits = 15 - exponent_bits<Stored>;

/// The pattern of infinity, and what would be the number of this pattern if exponents went on.
template <class Stored>
inline constexpr std::uint32_t infinity_bits = ((1u << exponent_bits<Stored>)-1)
                                               << fraction_bits<Stored>;

/// The number that IEEE 754 gives a pattern without its sign, the formula for finite ones.
template <class Stored>
double number_of(std::uint32_t pattern) {
  constexpr int fraction = fraction_bits<Stored>, bias = (1 << (exponent_bits<Stored> - 1)) - 1;
  auto const exponent = static_cast<int>(pattern >> fraction);
  double const digits = pattern & ((1u << fraction) - 1);
  return exponent == 0 ? std::ldexp(digits, 1 - bias - fraction)
                       : std::ldexp(digits + (1 << fraction), exponent - bias - fraction);
}

/// The pattern nearest to a number that is not NaN; of two the even one.
template <class Stored>
std::uint16_t nearest_pattern(float number) {
  double const magnitude = std::abs(static_cast<double>(number));
  std::uint32_t below = 0, above = infinity_bits<Stored>;
  if (magnitude >= number_of<Stored>(above)) below = above;
  while (above - below > 1) {
    std::uint32_t const middle = (below + above) / 2;
    (number_of<Stored>(middle) <= magnitude ? below : above) = middle;
  }
  double const half_way = (number_of<Stored>(below) + number_of<Stored>(above)) / 2;
  bool const up = magnitude > half_way || (magnitude == half_way && below % 2 == 1);
  return static_cast<std::uint16_t>((up ? above : below) | (std::signbit(number) ? 0x8000u : 0u));
}

float float_of_bits(std::uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}

template <class Exec, class Stored>
struct Convert {
  template <class T>
  using View = Kokkos::View<T*, typename Exec::memory_space>;
  View<float> floats;
  View<Stored> stored;
  bool to_float;

  KOKKOS_FUNCTION void operator()(int i) const {
    if (to_float)
      floats(i) = stored(i);
    else
      stored(i) = Stored(floats(i));
  }
};

/// Conversions where the backend computes.
template <class Exec, class Stored, class From, class To>
std::vector<To> converted(std::vector<From> const& from) {
  int const n = static_cast<int>(from.size());
  constexpr bool to_float = std::is_same_v<To, float>;
  Convert<Exec, Stored> const convert{
      Kokkos::View<float*, typename Exec::memory_space>("Blockspan::test", n),
      Kokkos::View<Stored*, typename Exec::memory_space>("Blockspan::test", n), to_float};
  auto const source = [&] {
    if constexpr (to_float)
      return convert.stored;
    else
      return convert.floats;
  }();
  auto const target = [&] {
    if constexpr (to_float)
      return convert.floats;
    else
      return convert.stored;
  }();
  Kokkos::deep_copy(source, Kokkos::View<From const*, Kokkos::HostSpace>(from.data(), from.size()));
  Kokkos::parallel_for("Blockspan::test", Kokkos::RangePolicy<Exec>(0, n), convert);
  std::vector<To> to(from.size());
  Kokkos::deep_copy(Kokkos::View<To*, Kokkos::HostSpace>(to.data(), to.size()), target);
  return to;
}

template <class Exec, class Stored>
void expect_rounded(std::vector<float> const& numbers) {
  auto const made = converted<Exec, Stored, float, Stored>(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(made[i].bits, nearest_pattern<Stored>(numbers[i])) << numbers[i];
}

template <class Config>
class SixteenBit : public ::testing::Test {};
struct SixteenBitNames {
  template <class T>
  static std::string GetName(int) {
    return std::string(T::Exec::name()) +
           (std::is_same_v<typename T::Scalar, half> ? "_half" : "_bfloat16");
  }
};
using SixteenBitConfigs =
    typename typed_lists::WithScalars<Backends, ::testing::Types<half, bfloat16>>::type;
TYPED_TEST_SUITE(SixteenBit, SixteenBitConfigs, SixteenBitNames);

TYPED_TEST(SixteenBit, EveryPatternIsTheNumberOfItsFormat) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  static_assert(sizeof(Stored) == 2 && alignof(Stored) == 2 &&
                std::is_trivially_copyable_v<Stored>);
  std::vector<Stored> all(65536);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  auto const floats = converted<Exec, Stored, Stored, float>(all);
  auto const back = converted<Exec, Stored, float, Stored>(floats);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    std::uint32_t const pattern = i & 0x7fffu;
    if (pattern > infinity_bits<Stored>) {  // whose sign says nothing (IEEE 754, 6.3)
      ASSERT_TRUE(std::isnan(floats[i])) << i;
      ASSERT_TRUE(std::isnan(float(back[i]))) << i;
      continue;
    }
    ASSERT_EQ(std::signbit(floats[i]), i >= 0x8000u) << i;
    if (pattern == infinity_bits<Stored>)
      ASSERT_TRUE(std::isinf(floats[i])) << i;
    else
      ASSERT_EQ(std::abs(static_cast<double>(floats[i])), number_of<Stored>(pattern)) << i;
    ASSERT_EQ(back[i].bits, i);
  }
}

/// Half-way between all neighbours, which is a float, and the floats next to that.
TYPED_TEST(SixteenBit, RoundsToTheNearestAndOfTwoToTheEvenOne) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  std::vector<float> numbers;
  for (std::uint32_t i = 0; i < infinity_bits<Stored>; ++i) {
    // the last of them is half-way to what would follow the greatest number, from where on it is
    // an infinity
    auto const half_way = static_cast<float>((number_of<Stored>(i) + number_of<Stored>(i + 1)) / 2);
    for (float const number :
         {half_way, std::nextafter(half_way, 0.0f), std::nextafter(half_way, HUGE_VALF)})
      for (float const sign : {1.0f, -1.0f}) numbers.push_back(sign * number);
  }
  expect_rounded<Exec, Stored>(numbers);
}

TYPED_TEST(SixteenBit, RoundsFloatsOfAllMagnitudes) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  using Limits = std::numeric_limits<float>;
  std::vector<float> numbers{
      0.0f,          -0.0f,         Limits::infinity(),   -Limits::infinity(),
      Limits::max(), Limits::min(), Limits::denorm_min(), 65519.996f,
      65520.0f,      -65536.0f};
  Random random(1);
  while (numbers.size() < 200000) {
    float const number = float_of_bits(static_cast<std::uint32_t>(random.bits()));
    if (!std::isnan(number)) numbers.push_back(number);
  }
  expect_rounded<Exec, Stored>(numbers);
}

TYPED_TEST(SixteenBit, KeepsNotANumber) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  std::vector<float> numbers;
  for (std::uint32_t const bits :
       {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu, 0x7f80ffffu, 0x7fbfffffu})
    numbers.push_back(float_of_bits(bits));
  for (auto const made : converted<Exec, Stored, float, Stored>(numbers))
    EXPECT_TRUE(std::isnan(float(made))) << made.bits;
}

}  // namespace
}  // namespace blockspan::test
