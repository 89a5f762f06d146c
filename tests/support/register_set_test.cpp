// Sets of vector registers, against plain arrays of numbers.
#include <array>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include <blockspan/support/registers/register_set.hpp>

namespace blockspan::test {
namespace {

TEST(RegisterSet, KnowsTheProcessorItIsCompiledFor) {
#if defined(__AVX512F__)
  EXPECT_EQ(support::register_bytes, 64);
  EXPECT_EQ(support::registers, 32);
#elif defined(__AVX__)
  EXPECT_EQ(support::register_bytes, 32);
  EXPECT_EQ(support::registers, 16);
#elif defined(__aarch64__)
  EXPECT_EQ(support::register_bytes, 16);
  EXPECT_EQ(support::registers, 32);
#else
  EXPECT_EQ(support::register_bytes, 16);
  EXPECT_EQ(support::registers, 16);
#endif
}

template <class Real>
void expect_widths() {
  int const widest = support::register_bytes / static_cast<int>(sizeof(Real));
  for (int reals = 1; reals <= 70; ++reals) {
    int const width = support::register_width<Real>(reals);
    EXPECT_LE(width, reals);
    EXPECT_LE(width, widest);
    EXPECT_TRUE(2 * width > reals || width == widest) << reals;
  }
}

TEST(RegisterSet, TakesTheWidestRegisterThatItsNumbersFill) {
  expect_widths<float>();
  expect_widths<double>();
}

/// Small integers: nothing is rounded, so results are exact.
template <class Real, int N>
void expect_arithmetic() {
  constexpr int stride = 5, group = 2;
  constexpr auto size = static_cast<std::size_t>(N);
  std::array<Real, size> a{}, b{};
  std::array<Real, static_cast<std::size_t>(stride * (N / group + 1))> apart{};
  for (int j = 0; j < N; ++j) {
    a[static_cast<std::size_t>(j)] = Real(j + 1);
    b[static_cast<std::size_t>(j)] = Real(3 * j - 7);
    apart[static_cast<std::size_t>(j / group * stride + j % group)] = Real(j + 1);
  }
  support::RegisterSet<Real, N> x, y, sum, strided;
  x.load(a.data());
  y.load(b.data());
  sum.add(x);
  sum.add_product(Real(2), y);
  sum.add_products(x, y);
  sum.scale(Real(4));
  std::array<Real, size + 2> result;
  result.fill(Real(-1));
  sum.store(result.data() + 1);
  for (std::size_t j = 0; j < size; ++j)
    EXPECT_EQ(result[j + 1], 4 * (a[j] + 2 * b[j] + a[j] * b[j])) << N << ", " << j;
  EXPECT_EQ(result[0], Real(-1)) << N;
  EXPECT_EQ(result[size + 1], Real(-1)) << N;
  if constexpr (N % group == 0) {
    strided.template load_strided<group>(apart.data(), stride);
    strided.store(result.data() + 1);
    for (std::size_t j = 0; j < size; ++j) EXPECT_EQ(result[j + 1], a[j]) << N << ", " << j;
  }
}

TEST(RegisterSet, OfAnyLengthCalculatesNumberByNumber) {
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (expect_arithmetic<double, N + 1>(), ...);
    (expect_arithmetic<float, N + 1>(), ...);
  }
  (std::make_integer_sequence<int, 67>());
}

}  // namespace
}  // namespace blockspan::test
