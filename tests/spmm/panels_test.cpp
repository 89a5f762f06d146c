#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <blockspan/spmm/prepared/row_panels.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/types.hpp"

// Panels of a few entries, where a matrix of more than 2^31 would have them of 2^31.

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

constexpr std::int64_t panel_entries = 7;

template <class Config>
class Panels : public ::testing::Test {};
TYPED_TEST_SUITE(Panels, Configs, ConfigNames);

/// A plan of panels of at most 7 entries, or of one row.
template <class Exec, class Scalar, class Offset>
SpmmPlan<Exec, Offset> cut_plan(Exec const& exec, CrsMatrix<Scalar, Exec, Offset> const& A) {
  return SpmmPlan<Exec, Offset>(kernels::make_plan_panels<Exec, Offset, int>(
      exec, kernels::product_pattern_ref<Exec>(A), {}, kernels::scalar_kind<Scalar>(), nullptr,
      panel_entries));
}

template <class Offset, class Exec, class Scalar>
void expect_right_in_panels(Exec const& exec, HostMatrix<Scalar> const& host) {
  auto const A = to_device<Offset>(exec, host);
  auto const plan = cut_plan(exec, A);
  auto const entries = static_cast<std::int64_t>(host.values.size());
  EXPECT_EQ(plan.panels().is_cut(), entries > panel_entries && host.rows > 1);
  for (Op const op : all_ops)
    for (Scalar const beta : {Scalar(0), Scalar(-0.5)}) {
      ProductCase<Scalar> const c{host, op, 5, Scalar(1.5), beta};
      expect_spmm(exec, plan, A, c, Storages{right, left});
    }
}

TYPED_TEST(Panels, MultiplyEveryMatrixWithEveryOp) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (auto const& host : battery<Scalar>()) {
    SCOPED_TRACE(host.name);
    expect_right_in_panels<int>(exec, host);
    expect_right_in_panels<std::size_t>(exec, host);
  }
}

/// Each part of the numbers is the same, or NaN in both.
template <class Real>
bool is_same_number(Real a, Real b) {
  return a == b || (a != a && b != b);
}
template <class Real>
bool is_same_number(Kokkos::complex<Real> const& a, Kokkos::complex<Real> const& b) {
  return is_same_number(a.real(), b.real()) && is_same_number(a.imag(), b.imag());
}

/// alpha and beta that are NaN or infinite: what panels of a transposed matrix add up to is what
/// one panel gives, also in rows to which not all of them contribute.
TYPED_TEST(Panels, FollowTheRulesOfNumbersThatAreNotFinite) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  double const infinity = std::numeric_limits<double>::infinity();
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (auto const& host : battery<Scalar>()) {
    auto const A = to_device<std::size_t>(exec, host);
    auto const plan = cut_plan(exec, A);
    SpmmPlan const whole(exec, A);
    for (Op const op : all_ops)
      for (double const alpha : {infinity, -infinity, nan, 2.0})
        for (double const beta : {0.0, 0.5, infinity, nan}) {
          if (alpha == 2 && std::isfinite(beta)) continue;  // tested above
          ProductCase<Scalar> const c{host, op, 5, Scalar(alpha), Scalar(beta)};
          auto const multiplied = [&](auto const& by) {
            TestBlock<Scalar, Exec> const X(exec, right, c.X()), Y(exec, right, c.Y());
            spmm(exec, by, op, c.alpha, A, X.const_view(), c.beta, Y.view);
            exec.fence();
            return Y.values();
          };
          auto const Y = multiplied(plan), wanted = multiplied(whole);
          for (std::int64_t i = 0; i < Y.rows(); ++i)
            for (std::int64_t j = 0; j < Y.columns(); ++j)
              ASSERT_TRUE(is_same_number(Y(i, j), wanted(i, j)))
                  << c.words() << ", row " << i << ": " << Y(i, j) << " for " << wanted(i, j);
        }
  }
}

TYPED_TEST(Panels, KeepWhatTheWholeMatrixHas) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (auto const& host : battery<Scalar>()) {
    SCOPED_TRACE(host.name);
    auto const A = to_device<std::size_t>(exec, host);
    auto const plan = cut_plan(exec, A);
    SpmmPlan const whole(exec, A);
    auto const &rows = plan.statistics(), &wanted = whole.statistics();
    EXPECT_EQ(rows.rows, wanted.rows);
    EXPECT_EQ(rows.columns, wanted.columns);
    EXPECT_EQ(rows.nonzeros, wanted.nonzeros);
    EXPECT_EQ(rows.empty_rows, wanted.empty_rows);
    EXPECT_EQ(rows.shortest, wanted.shortest);
    EXPECT_EQ(rows.longest, wanted.longest);
    EXPECT_TRUE(plan.verify(exec, A));
    EXPECT_EQ(plan.explain(8).find("panels of rows") != std::string::npos, plan.panels().is_cut());
  }
}

TYPED_TEST(Panels, SeeAnotherPattern) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = to_device<std::size_t>(exec, band<Scalar>(45));
  auto const plan = cut_plan(exec, A);
  auto other = band<Scalar>(45);
  std::swap(other.indices[100], other.indices[101]);
  EXPECT_FALSE(plan.verify(exec, to_device<std::size_t>(exec, other)));
  EXPECT_FALSE(plan.verify(exec, to_device<std::size_t>(exec, band<Scalar>(44))));
}

TYPED_TEST(Panels, HoldValues) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = mirrored_band<Scalar>(40, [](Scalar a) { return a; });
  auto const A = to_device<std::size_t>(exec, host);
  auto plan = cut_plan(exec, A);
  ProductCase<Scalar> const c{host, Op::transpose, 6, Scalar(1), Scalar(2)};
  auto const before = product(exec, plan, A, c);
  plan.hold_transpose(exec, A);
  spoil_values(A);  // the copies are read, with the same sums
  EXPECT_TRUE(same_bits(product(exec, plan, A, c), before));
}

TYPED_TEST(Panels, DotAfterTheProduct) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = band<Scalar>(45);
  auto const A = to_device<std::size_t>(exec, host);
  auto const plan = cut_plan(exec, A);
  SpmmPlan const whole(exec, A);
  ProductCase<Scalar> const c{host, Op::none, 3, Scalar(1), Scalar(0)};
  auto const X = make_block(exec, right, c.X());
  Kokkos::View<Scalar*, Exec> const in_panels("Blockspan::test", 3), at_once("Blockspan::test", 3);
  auto const dots = [&](auto const& by, auto const& sums) {
    auto const Y = make_block(exec, right, c.Y());
    spmm_dots(exec, by, Scalar(1), A, X.const_view(), Scalar(0), Y.view, sums, nullptr);
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  };
  auto const sums = dots(plan, in_panels), wanted = dots(whole, at_once);
  // gamma_m sum |x| |y|, m = rows + 2: values are at most 1, rows of Y at most 6
  auto const bound = 2 * 4 * 47 * unit_roundoff<real_t<Scalar>> * 45 * 6;
  for (int j = 0; j < 3; ++j) EXPECT_LE(Kokkos::abs(sums(j) - wanted(j)), bound) << j;
}

}  // namespace
}  // namespace blockspan::test
