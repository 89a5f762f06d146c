// Factors by cuDSS against closed forms: on CUDA by the library itself where it is there, on hosts
// by a stand-in for it (stand_in.cpp), which tests all that is Blockspan's.
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/cudss/cudss_pencil.hpp>

#include "solvers/exact_pencils.hpp"
#include "support/messages.hpp"
#include <dlfcn.h>
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class ExactDevice : public ExactTest<Config> {
 public:
  using Number = typename Config::Scalar;
  using Device = typename Config::Exec;
  using Matrix = typename ExactTest<Config>::Matrix;
  using Factors = operators::cudss::CudssPencil<Number, Device>;
  static constexpr bool real_library = support::on_cuda_v<Device>;

 protected:
  void SetUp() override {
    if constexpr (real_library) {
      auto const found = operators::cudss::find();
      if (found.library == nullptr) GTEST_SKIP() << found.why;
      library_ = *found.library;
    } else {
      library_ = operators::cudss::load({STAND_IN});
    }
  }

  /// A pencil, as operators and as factors.
  struct Pencil {
    using Operator = MatrixOperator<Number, Device>;
    Operator K;
    std::optional<Operator> M;
    Factors factors;

    Pencil(Device const& exec, operators::cudss::Library const& library, Matrix const& k,
           Matrix const* m, operators::PencilUse const& use)
        : K(exec, k, {}),
          M(m == nullptr ? std::optional<Operator>() : Operator(exec, *m, {})),
          factors(exec, library, operators::host_hermitian(exec, k),
                  m == nullptr ? std::optional<operators::HostHermitian>()
                               : operators::host_hermitian(exec, *m),
                  K, mass(), use) {}
    LinearOperator<Number, Device> const* mass() const { return M ? &*M : nullptr; }
  };
  std::unique_ptr<Pencil> pencil(Matrix const& K, Matrix const* M = nullptr,
                                 operators::PencilUse const& use = {}) const {
    return std::make_unique<Pencil>(this->exec_, library_, K, M, use);
  }

  ExactReport near_by(Pencil& pencil, double sigma, ExactOptions const& options) const {
    auto const X = typename TestFixture::Vectors("X", pencil.K.rows(), options.pairs);
    return exact::near<Number, Device>(this->exec_, pencil.K, pencil.mass(), pencil.factors, sigma,
                                       X, options);
  }

  /// A function of the stand-in; with the real library, whose errors are its own, null.
  template <class... Arguments>
  static auto stand_in(char const* name) {
    using Function = void (*)(Arguments...);
    if (real_library) return Function(nullptr);
    return reinterpret_cast<Function>(dlsym(dlopen(STAND_IN, RTLD_NOW | RTLD_NOLOAD), name));
  }

  using TestFixture = ExactTest<Config>;
  operators::cudss::Library library_;
};
TYPED_TEST_SUITE(ExactDevice, ExactConfigs, ConfigNames);

TYPED_TEST(ExactDevice, CountsWhatIsBelowThirtyShifts) {
  auto const pencil = this->pencil(this->chain(150));
  auto const spectrum = this->chain_spectrum(150);
  for (int step = 0; step < 30; ++step) {
    double const sigma = 0.01 + 0.1349 * step;
    auto const at = pencil->factors.factor(sigma);
    EXPECT_TRUE(at.trusted) << sigma;
    EXPECT_EQ(at.count, static_cast<std::int64_t>(within(spectrum, -1, sigma).size())) << sigma;
    EXPECT_LT(at.rho, 1e-6);
  }
}

/// Solves are refined where the error of the factors is more than costs steps of block Lanczos.
TYPED_TEST(ExactDevice, SolvesToRoundingOrNearly) {
  using Scalar = typename TypeParam::Scalar;
  auto const K = generate<Scalar>(this->exec_, "laplace7:7x7x7");
  auto const pencil = this->pencil(K);
  int const columns = 9;
  auto const X = this->vectors(K, columns), Y = this->vectors(K, columns),
             R = this->vectors(K, columns);
  using Left = Kokkos::View<Scalar**, Kokkos::LayoutLeft, typename TypeParam::Exec::memory_space>;
  Left const B("B", X.extent(0), columns);
  constexpr double nearly = TestFixture::Factors::refined_above;
  auto const spoil = TestFixture::template stand_in<double>("stand_in_spoil");
  struct Case {
    double sigma, spoilt, allowed;
  };
  std::vector<Case> cases{{-1.0, 0, nearly}, {0.9, 0, nearly}, {5.3, 0, nearly}};
  if (spoil != nullptr)
    cases = {{-1.0, 0, 1e-14},    {0.9, 0, 1e-14},    {5.3, 0, 1e-14},   {0.9, 3e-13, nearly},
             {-1.0, 1e-9, 1e-14}, {0.9, 1e-9, 1e-14}, {5.3, 1e-9, 1e-14}};
  for (auto const& [sigma, spoilt, allowed] : cases) {
    if (spoil != nullptr) spoil(spoilt);
    ASSERT_TRUE(pencil->factors.factor(sigma).trusted);
    fill_random(this->exec_, X, 7);
    convert_block(this->exec_, X, B);
    pencil->factors.solve(reinterpret_cast<double*>(B.data()), columns);
    convert_block(this->exec_, B, Y);
    pencil->K.apply(this->exec_, Y, R);
    // the backward error of a column: ||x - (K - sigma) y|| over (||K|| + |sigma|) ||y||
    Kokkos::View<double*, Kokkos::HostSpace> left("left", columns), length("length", columns);
    auto const r = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R);
    auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
    auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
    for (int j = 0; j < columns; ++j) {
      double residual = 0, size = 0;
      for (std::size_t i = 0; i < r.extent(0); ++i) {
        residual += std::pow(Kokkos::abs(x(i, j) - r(i, j) + sigma * y(i, j)), 2);
        size += std::pow(Kokkos::abs(y(i, j)), 2);
      }
      EXPECT_LE(std::sqrt(residual), allowed * (12 + std::abs(sigma)) * std::sqrt(size))
          << sigma << ", spoilt by " << spoilt;
    }
  }
  if (spoil != nullptr) spoil(0);
}

TYPED_TEST(ExactDevice, FindsPairsInsideTheSpectrum) {
  using Scalar = typename TypeParam::Scalar;
  auto const pencil = this->pencil(generate<Scalar>(this->exec_, "laplace7:7x7x7"));
  auto const spectrum = grid7_spectrum(7);
  auto const spoil = TestFixture::template stand_in<double>("stand_in_spoil");
  for (double const sigma : {-1.0, 0.9, 5.3, 20.0}) {
    if (spoil != nullptr) spoil(sigma > 1 ? 4e-13 : 0);  // not refined
    auto const report = this->near_by(*pencil, sigma, {.pairs = 20});
    if (spoil != nullptr) spoil(0);
    EXPECT_EQ(report.status, Status::converged) << report.trouble;
    EXPECT_TRUE(report.proof == Proof::proved || report.proof == Proof::tied) << sigma;
    auto const distances = [&](std::vector<double> values) {
      for (double& value : values) value = std::abs(value - sigma);
      std::sort(values.begin(), values.end());
      return values;
    };
    auto const found = distances(report.eigenvalues),
               truth = distances(nearest(spectrum, sigma, 20));
    ASSERT_EQ(found.size(), truth.size());
    for (std::size_t j = 0; j < truth.size(); ++j) EXPECT_NEAR(found[j], truth[j], 1e-12);
    for (double const error : report.backward_errors) EXPECT_LE(error, 1e-11);
  }
}

TYPED_TEST(ExactDevice, FindsAllCopiesInAnInterval) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const pencil = this->pencil(this->cube(8));
  std::vector<double> spectrum;
  for (int i = 0; i < 256; ++i) spectrum.push_back(2 * __builtin_popcount(i));
  Block<Scalar, Exec> X;
  ExactOptions const options{.slice = 64};
  auto const report = exact::inside<Scalar, Exec>(this->exec_, pencil->K, nullptr, pencil->factors,
                                                  3, 11, X, options);
  EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
  EXPECT_TRUE(are_right(report, within(spectrum, 3, 11), 1e-12));
}

TYPED_TEST(ExactDevice, MovesShiftsOffEigenvalues) {
  auto const pencil = this->pencil(this->cube(7));
  for (double const sigma : {0.0, 4.0, 14.0}) {
    EXPECT_FALSE(pencil->factors.factor(sigma).trusted) << sigma;
    EXPECT_TRUE(pencil->factors.factor(sigma + 1e-6).trusted) << sigma;
    auto const report = this->near_by(*pencil, sigma, {.pairs = 1});
    EXPECT_EQ(report.status, Status::converged) << report.trouble;
    EXPECT_NEAR(report.eigenvalues.at(0), sigma, 1e-12);
    EXPECT_TRUE(report.counts.at(0).moved());
  }
}

TYPED_TEST(ExactDevice, SolvesPencils) {
  auto const M = this->bar_mass(120);
  auto const spectrum = this->bar_spectrum(120);
  auto const pencil = this->pencil(this->chain(120), &M);
  for (double const sigma : {0.0, 1.234, 7.7}) {
    auto const report = this->near_by(*pencil, sigma, {.pairs = 9});
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_TRUE(are_right(report, nearest(spectrum, sigma, 9), 1e-11)) << sigma;
    EXPECT_LE(report.orthogonality_loss, 1e-12);
  }
}

// Springs in a row, every third mass is missing: the Schur complement has the same finite values.
TYPED_TEST(ExactDevice, LeavesMasslessUnknownsOut) {
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const n =
      3 * 40 + 2;  // masses at 0, 1, 3, 4, ...: the pairs are chains of two springs
  auto const K = this->chain(n);
  auto const M =
      this->banded(n, 0, [](std::int64_t i, std::int64_t) { return Scalar(i % 3 == 2 ? 0 : 1); });
  auto const pencil = this->pencil(K, &M);
  auto const device = this->near_by(*pencil, 0.7, {.pairs = 12});
  EXPECT_EQ(device.proof, Proof::proved) << device.trouble;
  // an independent way: MUMPS' factors
  auto const host = this->near(K, &M, 0.7, {.pairs = 12, .factors = FactorPlace::host});
  EXPECT_TRUE(are_right(device, host.eigenvalues, 1e-12));
  for (double const error : device.backward_errors) EXPECT_LE(error, 1e-12);
}

/// Neither stiffness nor mass: singular at every shift.
TYPED_TEST(ExactDevice, NamesAnUnknownThatNothingHolds) {
  std::vector<double> k(40, 1), m(40, 1);
  for (std::size_t i = 0; i < 40; ++i) k[i] = static_cast<double>(i);
  k[17] = m[17] = 0;
  auto const M = this->diagonal(m);
  auto const pencil = this->pencil(this->diagonal(k), &M);
  auto const report = this->near_by(*pencil, 3.3, {.pairs = 2});
  EXPECT_EQ(report.status, Status::singular_pencil) << report.trouble;
  EXPECT_THAT(report.trouble, HasSubstr("unknown 18"));
}

TYPED_TEST(ExactDevice, ShortMemoryIsAnError) {
  auto const K = this->chain(200);
  EXPECT_THAT(message_of([&] { this->pencil(K, nullptr, {.memory_limit = 1}); }),
              HasSubstr("bytes of the device, where 1 are allowed"));
}

TYPED_TEST(ExactDevice, WhatCudssRefusesIsAnError) {
  if (TestFixture::real_library) GTEST_SKIP() << "the stand-in refuses on demand";
  auto const answer = TestFixture::template stand_in<int, int>("stand_in_answer");
  ASSERT_NE(answer, nullptr);
  auto const K = this->chain(50);
  auto const message = [&](int phase, int status) {
    answer(phase, status);
    auto const text = message_of([&] {
      auto const pencil = this->pencil(K);
      pencil->factors.factor(0.1);
    });
    answer(phase, 0);
    return text;
  };
  EXPECT_THAT(message(3, 2), HasSubstr("out of memory of the device"));
  EXPECT_THAT(message(3, 4), HasSubstr("cannot analyse the matrix of 50 rows: status 4, not supp"));
  EXPECT_THAT(message(4, 5), HasSubstr("cannot factor"));
  EXPECT_THAT(message(1008, 6), HasSubstr("cannot solve with"));
}

/// Before its counts are used, two paths and a saddle point of 40 rows.
TYPED_TEST(ExactDevice, CountsAreTriedFirst) {
  using Scalar = typename TypeParam::Scalar;
  auto const fault = [&] {
    return operators::cudss::self_test<Scalar>(this->exec_, this->library_);
  };
  EXPECT_EQ(fault(), "");
  auto const lie = TestFixture::template stand_in<int>("stand_in_lie");
  if (lie == nullptr) return;
  lie(1);
  EXPECT_EQ(fault(), "cuDSS 1.2.3 counts 14 negative pivots where there are 13 of 40");
  lie(0);
}

/// 5,788 of a million by the closed form.
TYPED_TEST(ExactDevice, LongRunCountsAMillion) {
  using Scalar = typename TypeParam::Scalar;
  if (!TestFixture::real_library) GTEST_SKIP() << "needs CUDA";
  auto const pencil = this->pencil(generate<Scalar>(this->exec_, "laplace7:100"));
  auto const at = pencil->factors.factor(0.5);
  EXPECT_TRUE(at.trusted) << at.rho;
  EXPECT_EQ(at.count, 5788);
}

}  // namespace
}  // namespace blockspan::test
