// A fuzz of what the eigensolver claims: problems of every kind that is hard, small enough that
// exact counts of eigenvalues judge every value, bound and certificate. A wrong claim names its
// seed; BLOCKSPAN_FUZZ_SEED=first:last runs it again, BLOCKSPAN_FUZZ_FOLDER gets its matrices.
#include "claims/eigen_claims.hpp"

#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Scalar>
using InDouble = std::is_same<real_t<Scalar>, double>;
template <class Config>
class EigenClaims : public ::testing::Test {};
TYPED_TEST_SUITE(EigenClaims, ConfigsWith<InDouble>, ConfigNames);

std::vector<EigenGenerator> all_generators() {
  std::vector<EigenGenerator> all;
  for (auto const& some : {graded_problems(), pencils(), singular_pencils(), graphs(), spectra()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

template <class Config>
void expect_claims_to_hold(std::uint64_t count) {
  using Scalar = typename Config::Scalar;
  if constexpr (InDouble<Scalar>::value) {
    auto const generators = all_generators();
    auto const seeds = Seeds::of_test(count);
    Tally tally("eigenproblems", seeds);
    for (auto seed = seeds.first; seed <= seeds.last; ++seed)
      tally.add(seed, run_eigen_claim<Scalar, typename Config::Exec>(generators, seed));
    tally.print();
  }
}

TYPED_TEST(EigenClaims, Hold) { expect_claims_to_hold<TypeParam>(232); }

TYPED_TEST(EigenClaims, HoldInALongRun) {
  expect_claims_to_hold<TypeParam>(is_complex_v<typename TypeParam::Scalar> ? 1200 : 3800);
}

}  // namespace
}  // namespace blockspan::test
