// Divisions by multiplication, against divisions.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/support/arithmetic.hpp>

namespace blockspan::test {
namespace {

/// Where a quotient steps, and the ends.
void expect_quotients(std::int64_t divisor, std::int64_t most) {
  Divisor const by(divisor, most);
  EXPECT_EQ(by.divisor(), divisor);
  std::int64_t const quotients = (most - 1) / divisor;
  for (std::int64_t q : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, quotients / 2,
                         quotients - 1, quotients, quotients + 1})
    for (std::int64_t n = q * divisor - 2; n <= q * divisor + 2; ++n) {
      if (n < 0 || n >= most) continue;
      ASSERT_EQ(by.quotient(n), n / divisor) << n << " / " << divisor;
    }
  ASSERT_EQ(by.quotient(most - 1), (most - 1) / divisor) << most << " / " << divisor;
}

TEST(Divisor, GivesTheQuotientOfEveryNumber) {
  for (std::int64_t divisor = 1; divisor <= 130; ++divisor) {
    Divisor const by(divisor, 20000);
    for (std::int64_t n = 0; n < 20000; ++n) ASSERT_EQ(by.quotient(n), n / divisor);
  }
}

TEST(Divisor, HoldsUpToTheLargestNumbers) {
  std::int64_t const limit = std::int64_t{1} << 31;
  std::vector<std::int64_t> divisors;
  for (int bit = 0; bit < 31; ++bit)
    for (std::int64_t d = -1; d <= 1; ++d) divisors.push_back((std::int64_t{1} << bit) + d);
  for (std::int64_t d : {3, 10, 100, 641, 1000003, 715827883, 2147483647}) divisors.push_back(d);
  for (std::int64_t const divisor : divisors)
    if (divisor > 0)
      for (std::int64_t const most :
           {std::int64_t{1}, divisor, divisor + 1, limit - 1, limit, limit + 1, 1000 * limit})
        expect_quotients(divisor, most);
}

}  // namespace
}  // namespace blockspan::test
