// A fuzz of what the eigensolver claims: problems of every kind that is hard, small enough that
// exact counts of eigenvalues judge every value, bound and certificate. A wrong claim names its
// seed; BLOCKSPAN_FUZZ_SEED=first:last runs it again, BLOCKSPAN_FUZZ_FOLDER gets its matrices.
#include "claims/eigen_claims.hpp"

#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class EigenClaims : public ::testing::Test {};
TYPED_TEST_SUITE(EigenClaims, ConfigsWith<InDouble>, ConfigNames);

std::vector<EigenGenerator> all_generators() {
  std::vector<EigenGenerator> all;
  for (auto const& some : {graded_problems(), pencils(), singular_pencils(), graphs(), spectra(),
                           constrained_problems()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

template <class Config>
void expect_claims_to_hold(std::uint64_t count, bool iterative = false) {
  using Scalar = typename Config::Scalar;
  if constexpr (InDouble<Scalar>::value) {
    auto const generators = all_generators();
    auto const seeds = Seeds::of_test(count);
    Tally tally("eigenproblems", seeds);
    for (auto seed = seeds.first; seed <= seeds.last; ++seed)
      tally.add(seed, run_eigen_claim<Scalar, typename Config::Exec>(generators, seed, iterative));
    tally.print();
    tally.expect_solved(iterative ? 0.5 : 0.75);
  }
}

/// The truth of every kind is the same in another order of rows, and by congruences with powers of
/// two: other pivots, and other roundings, of the same numbers.
TEST(ClaimsTruth, IsThatOfOtherPivots) {
  auto const generators = all_generators();
  for (std::uint64_t seed = 0; seed < 4 * generators.size(); ++seed) {
    auto const& generator = generators[seed % generators.size()];
    Random random(seed);
    auto const made = without_unused_rows(generator.make(random));
    int const n = made.A.order();
    if (n > 30) continue;
    auto const order = random_order(random, n);
    Dense const A = permuted(made.A, order), B = made.B ? permuted(*made.B, order) : Dense();
    std::vector<double> d;
    for (int i = 0; i < n; ++i) d.push_back(std::ldexp(1.0, pick(random, -20, 20)));
    Dense const identity = diagonal(std::vector<double>(n, 1));
    Dense const scaled_A = scaled_by(A, d), scaled_B = scaled_by(made.B ? B : identity, d);
    for (int trial = 0; trial < 8; ++trial) {
      double const entry = std::abs(made.A(pick(random, 0, n - 1), pick(random, 0, n - 1)));
      Exact const x = Exact(entry > 0 ? entry : 1) * Exact(random.value<double>());
      auto const count = [&](Dense const& K, Dense const* M) {
        return inertia(shifted(K, M, x, false)).negative;
      };
      int const expected = count(made.A, made.B ? &*made.B : nullptr);
      EXPECT_EQ(count(A, made.B ? &B : nullptr), expected) << generator.name << ", seed " << seed;
      // The products of entries near the ends of the range would leave it.
      if (std::string(generator.name) == "ends of the range") continue;
      EXPECT_EQ(count(scaled_A, &scaled_B), expected) << generator.name << ", seed " << seed;
    }
  }
}

TYPED_TEST(EigenClaims, Hold) { expect_claims_to_hold<TypeParam>(232); }

TYPED_TEST(EigenClaims, HoldOfTheIteration) {
  LargerOrders const orders(40, 70);
  expect_claims_to_hold<TypeParam>(40, true);
}

TYPED_TEST(EigenClaims, HoldInALongRun) {
  expect_claims_to_hold<TypeParam>(is_complex_v<typename TypeParam::Scalar> ? 1200 : 3800);
}

}  // namespace
}  // namespace blockspan::test
