// The units of a matrix, of right-hand sides and of near-null vectors are of no account: powers of
// four whose squares leave the range of numbers give the same bits, scaled.
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/host/host_csr.hpp>

#include "multigrid/problems.hpp"
#include "operators/apply.hpp"
#include "spmm/battery.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class MultigridUnits : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridUnits, EveryConfig, ConfigNames);

/// 2^exponent; its square overflows or underflows.
template <class Scalar>
real_t<Scalar> unit(int sign) {
  return std::ldexp(real_t<Scalar>(1), sign * (sizeof(real_t<Scalar>) == 4 ? 66 : 602));
}

template <class Scalar>
HostBlock<Scalar> scaled(HostBlock<Scalar> X, real_t<Scalar> factor) {
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j) X(i, j) *= factor;
  return X;
}

void expect_same(MultigridReport const& report, MultigridReport const& wanted) {
  EXPECT_EQ(report.status, wanted.status) << report.message;
  EXPECT_EQ(report.smallest, wanted.smallest);
  EXPECT_EQ(report.largest, wanted.largest);
  EXPECT_EQ(report.notes, wanted.notes);
  ASSERT_EQ(report.levels.size(), wanted.levels.size());
  for (std::size_t l = 0; l < wanted.levels.size(); ++l) {
    auto const &level = report.levels[l], &other = wanted.levels[l];
    EXPECT_EQ(level.aggregates, other.aggregates) << l;
    EXPECT_EQ(level.nonzeros, other.nonzeros) << l;
    EXPECT_EQ(level.prolongator_nonzeros, other.prolongator_nonzeros) << l;
    EXPECT_EQ(level.upper, other.upper) << l;
  }
}

TYPED_TEST(MultigridUnits, OfTheMatrixAndTheRightHandSideAreOfNoAccount) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Options = MultigridOptions<Scalar, Exec>;
  Exec const exec;
  for (auto const& [spec, asked] :
       {std::pair<std::string, Options>("laplace7:9", {.coarse_rows = 10}),
        {"laplace7:9", {.adaptive = 2, .coarse_rows = 10}},
        {"aniso7:9:1,0.01,0.0001", {.block_size = 1, .pulses = true, .coarse_rows = 10}},
        {"elasticity:6", {.block_size = 3, .coarse_rows = 20}},
        {"elasticity:6",
         {.coordinates = brick_nodes<real_t<Scalar>>(exec, 6), .coarse_rows = 20}}}) {
    auto const A = generate<Scalar>(exec, spec);
    auto const x = random_block<Scalar>(A.numRows(), 2, 4);
    for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
      auto options = asked;
      options.precision = precision;
      auto const plain = multigrid(exec, A, options);
      auto const wanted = applied(exec, plain, x);
      ASSERT_GE(plain.report().levels.size(), 2u);
      for (int const sign : {1, -1}) {
        SCOPED_TRACE(spec + (sign > 0 ? ", large" : ", small"));
        auto const s = unit<Scalar>(sign);
        auto const M = multigrid(exec, convert_values<Scalar>(exec, A, s), options);
        expect_same(M.report(), plain.report());
        EXPECT_TRUE(same_bits(scaled<Scalar>(applied(exec, M, x), s), wanted));
        EXPECT_TRUE(same_bits(applied(exec, M, scaled<Scalar>(x, s)), wanted));
        EXPECT_TRUE(
            same_bits(scaled<Scalar>(applied(exec, plain, scaled<Scalar>(x, s)), 1 / s), wanted));
      }
    }
  }
}

TYPED_TEST(MultigridUnits, OfNearNullVectorsAreOfNoAccount) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Options = MultigridOptions<Scalar, Exec>;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("aniso7:9:1,0.01,0.0001"));
  auto const n = static_cast<std::int64_t>(A.numRows());
  auto const x = random_block<Scalar>(n, 2, 4);
  for (bool const pulses : {false, true})
    for (std::int64_t const count : {1, 2}) {
      HostBlock<Scalar> B(n, count, Scalar(1));
      for (std::int64_t i = 0; i < n && count > 1; ++i)
        B(i, 1) = Scalar(static_cast<real_t<Scalar>>(i % 9) - 4);
      auto const of = [&](real_t<Scalar> first, real_t<Scalar> second) {
        auto scaled = B;
        for (std::int64_t i = 0; i < n; ++i) {
          scaled(i, 0) *= first;
          if (count > 1) scaled(i, 1) *= second;
        }
        return multigrid(
            exec, A,
            Options{.near_null = block<Scalar>(exec, scaled), .pulses = pulses, .coarse_rows = 10});
      };
      auto const plain = of(1, 1);
      auto const wanted = applied(exec, plain, x);
      for (int const sign : {1, -1}) {
        auto const M = of(unit<Scalar>(sign), unit<Scalar>(-sign));
        expect_same(M.report(), plain.report());
        EXPECT_TRUE(same_bits(applied(exec, M, x), wanted));
      }
    }
}

TYPED_TEST(MultigridUnits, DoNotHideThatAMatrixIsNotHermitian) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (sizeof(real_t<Scalar>) == 4) GTEST_SKIP() << "there is no probe in single precision";
  Exec const exec;
  auto const host = blockspan::sparse::to_host(generate<Scalar>(exec, std::string("laplace5:40")));
  for (int const sign : {0, 1, -1}) {
    HostMatrix<Scalar> A{"skew", host.rows, host.columns, {0}, {}, {}};
    for (int i = 0; i < host.rows; ++i) {
      for (int k = host.offsets(i); k < host.offsets(i + 1); ++k) {
        auto const part = real_t<Scalar>(host.indices(k) == i + 1 ? 0.7 : 1);
        A.add(host.indices(k), host.values(k) * (sign == 0 ? part : part * unit<Scalar>(sign)));
      }
      A.end_row();
    }
    EXPECT_EQ(multigrid(exec, to_device(exec, A)).report().status, MultigridStatus::not_hermitian)
        << sign;
  }
}

/// A product that memory does not suffice for leaves a cycle that serves narrower blocks.
TYPED_TEST(MultigridUnits, OfAsManyColumnsAsThereIsMemory) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace5:20"));
  auto const x = random_block<Scalar>(400, 3, 4);
  for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
    auto const M = multigrid(exec, A, {.coarse_rows = 10, .precision = precision});
    auto const wanted = applied(exec, M, x);
    Scalar* const nothing = nullptr;
    Block<Scalar, Exec> const vast(nothing, 400, std::size_t{1} << 42);
    EXPECT_NE(message_of([&] { M.apply(exec, vast, vast); }), "");
    EXPECT_TRUE(same_bits(applied(exec, M, x), wanted));
  }
}

/// Values that change in place have other bounds, in the same arrays; a new setup decides the same.
TYPED_TEST(MultigridUnits, RefreshedInPlaceHasTheBoundsOfTheNewValues) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace7:9"));
  MultigridOptions<Scalar, Exec> const options{.coarse_rows = 10};
  auto M = multigrid(exec, A, options);
  auto const norm = [](auto const& of) { return of.hierarchy().levels[0].op->facts().norm_bound; };
  auto const replace = [&](CrsMatrix<Scalar, Exec> const& values) {
    Kokkos::deep_copy(exec, A.values, values.values);
    exec.fence();
    M.refresh(exec, A);
  };
  replace(convert_values<Scalar>(exec, A, real_t<Scalar>(3)));
  EXPECT_EQ(norm(M), norm(multigrid(exec, A, options)));
  // not Hermitian, and so large that squares of products overflow
  auto host = blockspan::sparse::to_host(A);
  HostMatrix<Scalar> skew{"skew", A.numRows(), A.numCols(), {0}, {}, {}};
  real_t<Scalar> const large = sizeof(real_t<Scalar>) == 4 ? 1e25 : 1e200;
  for (int i = 0; i < A.numRows(); ++i) {
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k) {
      int const j = host.indices(k);
      skew.add(j, host.values(k) * (j == i ? large : large * (j < i ? 9 : -7)));
    }
    skew.end_row();
  }
  replace(to_device(exec, skew));
  auto const wanted = multigrid(exec, A, options);
  EXPECT_EQ(wanted.report().status, MultigridStatus::not_hermitian);
  EXPECT_EQ(M.report().status, wanted.report().status) << M.report().message;
}

/// Whichever part is NaN: a largest entry of zero would pass for a vector of zeros.
TEST(LargestPart, IsNotANumberWhereAPartIsNone) {
  using blockspan::blocks::largest_part;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  using Complex = Kokkos::complex<double>;
  EXPECT_EQ(largest_part(Complex(3, -4)), 4);
  EXPECT_EQ(largest_part(-2.0f), 2.0f);
  EXPECT_TRUE(std::isnan(largest_part(Complex(nan, 1))));
  EXPECT_TRUE(std::isnan(largest_part(Complex(1, nan))));
  EXPECT_TRUE(std::isnan(largest_part(nan)));
}

}  // namespace
}  // namespace blockspan::test
