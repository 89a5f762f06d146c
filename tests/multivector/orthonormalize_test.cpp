#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/orthonormalize.hpp>

#include "multivector/bases.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Config>
class Orthonormalize : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  static constexpr bool is_double = std::is_same_v<real_t<S>, double>;
  static constexpr long double eps = 2 * unit_roundoff<S>;
  E exec;
  Workspace<E> workspace;
  OrthonormalizeReport report;
  HostBlock<S> basis;

  /// Orthonormalizes X and checks what always holds: orthonormal, zero beyond the rank, and the
  /// span of `kept` (the finite columns of X) preserved.
  void check(HostBlock<S> const& X, HostBlock<S> const& kept, Storage storage = Storage::right) {
    auto const V = make_block(exec, storage, X);
    report = orthonormalize(exec, V.view, workspace);
    basis = V.values();
    int const k = static_cast<int>(X.columns());
    EXPECT_LE(distance_from_identity(basis, basis, report.rank), 50 * eps * std::max(k, 1));
    EXPECT_LE(distance_from_span(kept, basis, report.rank), 30 * eps * std::max(k, 1));
    for (std::int64_t i = 0; i < X.rows(); ++i)
      for (int j = report.rank; j < k; ++j) EXPECT_EQ(basis(i, j), S(0));
    EXPECT_TRUE(V.surroundings_intact());
  }
  void check(HostBlock<S> const& X, Storage storage = Storage::right) { check(X, X, storage); }
};

TYPED_TEST_SUITE(Orthonormalize, EveryConfig, ConfigNames);

TYPED_TEST(Orthonormalize, TakesTwoPassesForAWellConditionedBlockOfAnyShapeAndLayout) {
  using Scalar = typename TypeParam::Scalar;
  for (auto const& [n, k] : {std::pair{1, 1}, {31, 3}, {100, 20}, {1000, 1}, {4099, 12}})
    for (Storage const storage : all_storages) {
      this->check(random_block<Scalar>(n, k, 1), storage);
      EXPECT_EQ(this->report.rank, k);
      EXPECT_EQ(this->report.passes, 2);
      EXPECT_FALSE(this->report.used_svqb);
    }
}

TYPED_TEST(Orthonormalize, HandlesHundredsOfColumns) {
  this->check(random_block<typename TypeParam::Scalar>(700, 130, 2));
  EXPECT_EQ(this->report.rank, 130);
}

TYPED_TEST(Orthonormalize, AcceptsEmptyBlocks) {
  using Scalar = typename TypeParam::Scalar;
  for (auto const& [n, k] : {std::pair{0, 0}, {0, 3}, {10, 0}}) {
    this->check(HostBlock<Scalar>(n, k));
    EXPECT_EQ(this->report.rank, 0);
  }
}

TYPED_TEST(Orthonormalize, KeepsTheSpanOfLauchliMatricesUpToSingularity) {
  using Scalar = typename TypeParam::Scalar;
  for (int power = 1; power <= 15; ++power) {
    this->check(lauchli<Scalar>(60, 10, std::pow(10.0, -power)));
    // Full rank as long as the steps are well above the rounding errors of the columns.
    if (power <= (this->is_double ? 12 : 3)) {
      EXPECT_EQ(this->report.rank, 10) << "1e-" << power;
    }
    EXPECT_LE(this->report.passes, 6) << "1e-" << power;
  }
}

TYPED_TEST(Orthonormalize, KeepsTheSpanOfNearlyDependentColumns) {
  using Scalar = typename TypeParam::Scalar;
  for (int power = 1; power <= 15; ++power) {
    this->check(nearly_dependent<Scalar>(500, 6, std::pow(10.0, -power)));
    if (power >= (this->is_double ? 8 : 4)) {
      EXPECT_TRUE(this->report.used_svqb) << "1e-" << power;
    }
  }
}

TYPED_TEST(Orthonormalize, DropsCopiesMultiplesAndSums) {
  using Scalar = typename TypeParam::Scalar;
  auto X = random_block<Scalar>(300, 8, 3);
  set_column(X, 2, 0, 1);
  set_column(X, 5, 1, real_t<Scalar>(-3.7));
  for (int i = 0; i < 300; ++i) X(i, 7) = X(i, 3) - X(i, 4);
  this->check(X);
  EXPECT_EQ(this->report.rank, 5);
  EXPECT_TRUE(this->report.used_svqb);
}

TYPED_TEST(Orthonormalize, FindsRankOneAmongEqualColumns) {
  using Scalar = typename TypeParam::Scalar;
  auto X = random_block<Scalar>(1000, 16, 4);
  for (int j = 1; j < 16; ++j) set_column(X, j, 0, 1);
  this->check(X);
  EXPECT_EQ(this->report.rank, 1);
}

TYPED_TEST(Orthonormalize, OfMoreColumnsThanRowsFindsAllRows) {
  this->check(random_block<typename TypeParam::Scalar>(7, 12, 5));
  EXPECT_EQ(this->report.rank, 7);
}

TYPED_TEST(Orthonormalize, DropsZeroColumnsAndColumnsThatAreNotFinite) {
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  auto X = random_block<Scalar>(400, 6, 6);
  auto const kept = some_columns(X, {1, 3, 4});
  set_column(X, 0, 0, 0);
  X(123, 2) = not_a_number<Scalar>();
  X(399, 5) = Scalar(std::numeric_limits<Real>::infinity());
  this->check(X, kept);
  EXPECT_EQ(this->report.rank, 3);
  this->check(HostBlock<Scalar>(50, 4));
  EXPECT_EQ(this->report.rank, 0);
  this->check(HostBlock<Scalar>(50, 4, not_a_number<Scalar>()), HostBlock<Scalar>(50, 0));
  EXPECT_EQ(this->report.rank, 0);
}

TYPED_TEST(Orthonormalize, TakesColumnsOfAnyLength) {
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  auto X = random_block<Scalar>(800, 7, 7);
  int const power = this->is_double ? 150 : 18;
  for (int j = 0; j < 7; ++j)
    set_column(X, j, j, static_cast<Real>(std::pow(10.0, (j - 3) * power / 3)));
  this->check(X);
  EXPECT_EQ(this->report.rank, 7);
  Real const tiny = std::numeric_limits<Real>::min(), huge = std::numeric_limits<Real>::max() / 4;
  set_column(X, 3, 3, tiny / 64);
  for (int i = 0; i < 800; ++i) X(i, 6) = (i % 2 ? huge : -huge) * Real(0.5);
  this->check(some_columns(X, {6, 3}), some_columns(X, {6}));
  EXPECT_EQ(this->report.rank, 2);
}

TYPED_TEST(Orthonormalize, RepeatsItsBits) {
  using Scalar = typename TypeParam::Scalar;
  auto const X = nearly_dependent<Scalar>(5000, 5, 1e-9);
  this->check(X);
  auto const first = this->basis;
  for (int run = 0; run < 20; ++run) {
    auto const V = make_block(this->exec, Storage::right, X);
    orthonormalize(this->exec, V.view, this->workspace);
    EXPECT_TRUE(same_bits(first, V.values())) << "run " << run;
  }
}

TYPED_TEST(Orthonormalize, ItsJudgesFindABasisThatIsSlightlyWrong) {
  using Scalar = typename TypeParam::Scalar;
  auto const X = random_block<Scalar>(100, 4, 8);
  this->check(X);
  auto V = this->basis;
  set_column(V, 1, 1, real_t<Scalar>(1.001));
  EXPECT_GT(distance_from_identity(V, V, 4), 1e-4L);
  EXPECT_GT(distance_from_span(X, this->basis, 3), 1e-2L);
}

TYPED_TEST(Orthonormalize, ProjectOutLeavesWhatIsOrthogonal) {
  using Scalar = typename TypeParam::Scalar;
  this->check(random_block<Scalar>(900, 9, 9));
  auto const q = this->basis, v = random_block<Scalar>(900, 5, 10);
  auto const Q = make_block(this->exec, Storage::left, q);
  auto const V = make_block(this->exec, Storage::right, v);
  project_out(this->exec, Q.const_view(), Q.view, V.view, this->workspace);
  project_out(this->exec, Q.const_view(), Q.view, V.view, this->workspace);
  auto const result = V.values();
  auto const dots = gram_reference(q, result);
  for (auto const& dot : dots.values) EXPECT_LE(std::abs(dot), 100 * this->eps);
  // V - result lies in the span of Q.
  HostBlock<Scalar> removed(900, 5);
  for (int i = 0; i < 900; ++i)
    for (int j = 0; j < 5; ++j) removed(i, j) = v(i, j) - result(i, j);
  EXPECT_LE(distance_from_span(removed, q, 9), 1000 * this->eps);
}

}  // namespace blockspan::test
