// A fuzz of what conjugate gradients claim: residuals are exact ones, and so are rank and signs of
// the matrix. Seeds and files as in eigen_claims_test.cpp.
#include "claims/system_claims.hpp"

#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class SystemClaims : public ::testing::Test {};
TYPED_TEST_SUITE(SystemClaims, ConfigsWith<InDouble>, ConfigNames);

template <class Config>
void expect_system_claims_to_hold(std::uint64_t count) {
  using Scalar = typename Config::Scalar;
  if constexpr (InDouble<Scalar>::value) {
    auto const seeds = Seeds::of_test(count);
    Tally tally("systems", seeds);
    for (auto seed = seeds.first; seed <= seeds.last; ++seed)
      tally.add(seed, run_system_claim<Scalar, typename Config::Exec>(systems(), seed));
    tally.print();
    tally.expect_solved(0.4);  // many have no solution, or are indefinite
  }
}

TYPED_TEST(SystemClaims, Hold) { expect_system_claims_to_hold<TypeParam>(210); }

TYPED_TEST(SystemClaims, HoldInALongRun) {
  expect_system_claims_to_hold<TypeParam>(is_complex_v<typename TypeParam::Scalar> ? 600 : 1400);
}

}  // namespace
}  // namespace blockspan::test
