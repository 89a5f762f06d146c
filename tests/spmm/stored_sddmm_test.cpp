// Products of two blocks of 16-bit scalars at the entries of a matrix.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/sddmm.hpp>

#include "spmm/product_case.hpp"
#include "spmm/stored.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Stored>
struct StoredSamples {
  HostMatrix<double> const& A;
  std::int64_t columns = 4;
  float alpha = 1;
  float beta = 0;

  HostBlock<double> block(std::int64_t rows, std::uint64_t seed) const {
    return alpha == 0 ? HostBlock<double>(rows, columns, NAN)
                      : rounded<Stored>(random_block<double>(rows, columns, seed));
  }
  HostBlock<double> X() const { return block(A.rows, 11); }
  HostBlock<double> Y() const { return block(A.columns, 12); }
  HostBlock<double> values() const {
    auto const entries = static_cast<std::int64_t>(A.indices.size());
    return beta == 0 ? HostBlock<double>(entries, 1, NAN)
                     : rounded<Stored>(random_block<double>(entries, 1, 13));
  }

  /// In extended precision, with the bound of theory.
  Reference<double> wanted() const {
    auto const x = X(), y = Y(), before = values();
    Reference<double> result(before.rows(), 1);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.offsets[static_cast<std::size_t>(i)];
           k < A.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        auto& value = result.value(k, 0);
        auto& bound = result.bound(k, 0);
        auto const add = [&](long double term) {
          value += term;
          bound += std::abs(term);
        };
        auto const column = A.indices[static_cast<std::size_t>(k)];
        for (std::int64_t j = 0; alpha != 0 && j < columns; ++j)
          add(static_cast<long double>(alpha) * x(i, j) * y(column, j));
        if (beta != 0) add(static_cast<long double>(beta) * before(k, 0));
        bound *= gamma_bound<float>(columns + 3);
      }
    add_rounding<Stored>(result, static_cast<long double>(columns));
    return result;
  }
};

template <class Stored, class Offset = int, class Exec>
StoredBlock<Stored, Exec> sampled(Exec const& exec, StoredSamples<Stored> const& c,
                                  Storages const& storages = {right, right}) {
  auto const A = stored_on<Stored, Offset>(exec, c.A);
  StoredBlock<Stored, Exec> const X(storages.X, c.X()), Y(storages.Y, c.Y());
  StoredBlock<Stored, Exec> const values(strided, c.values());
  sddmm(exec, Conjugated::second, c.alpha, A, X.view, Y.view, c.beta,
        Kokkos::subview(values.view, Kokkos::ALL, 0));
  EXPECT_TRUE(values.surroundings_intact());
  return values;
}
template <class Stored, class Offset = int, class Exec>
void expect_sampled(Exec const& exec, StoredSamples<Stored> const& c,
                    Storages const& storages = {right, right}) {
  EXPECT_TRUE(matches(sampled<Stored, Offset>(exec, c, storages).values(), c.wanted()))
      << c.A.name << ", " << c.columns << " columns";
}

template <class Config>
class StoredSddmm : public ::testing::Test {};
TYPED_TEST_SUITE(StoredSddmm, StoredConfigs, StoredNames);

TYPED_TEST(StoredSddmm, IsRightForHostileMatrices) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (auto const& A : battery<double>())
    for (std::int64_t const columns : {0, 1, 5, 8, 33})
      expect_sampled(exec, StoredSamples<Stored>{A, columns});
}

TYPED_TEST(StoredSddmm, IsRightForAllWidthsAndFactors) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = random_matrix<double>("short rows", 13, 9, [](std::int64_t i) { return i % 4; });
  for (std::int64_t columns = 1; columns <= 70; ++columns)
    expect_sampled(exec, StoredSamples<Stored>{A, columns});
  for (std::int64_t const columns : {127, 255, 256, 257, 600})
    for (float const alpha : {0.0f, -0.3f})
      for (float const beta : {0.0f, 1.0f, 3.0f})
        expect_sampled(exec, StoredSamples<Stored>{A, columns, alpha, beta});
  expect_sampled<Stored, std::size_t>(exec, StoredSamples<Stored>{A});
}

TYPED_TEST(StoredSddmm, TakesBlocksOfAnyStrides) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = random_matrix<double>("wide", 40, 90, [](std::int64_t i) { return i % 7; });
  for (auto const x : all_storages)
    for (auto const y : all_storages) expect_sampled(exec, StoredSamples<Stored>{A, 11}, {x, y});
}

TYPED_TEST(StoredSddmm, HasTheSameBitsTwice) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = random_matrix<double>("all", 60, 30, [](std::int64_t i) { return 5 * i; });
  StoredSamples<Stored> const c{A, 37, 0.3f, 0.7f};
  EXPECT_EQ(sampled(exec, c).bits(), sampled(exec, c).bits());
}

TYPED_TEST(StoredSddmm, SumsInFloatAndRoundsOnce) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  Exec const exec;
  HostMatrix<double> entry{"entry", 1, 1, {0}, {}, {}};
  entry.add(0, 1);
  entry.end_row();
  auto const A = stored_on<Stored>(exec, entry);
  auto const result = [&](HostBlock<double> const& x, HostBlock<double> const& y, float alpha) {
    StoredBlock<Stored, Exec> const X(right, x), Y(right, y);
    sddmm(exec, Conjugated::none, alpha, A, X.view, Y.view, 0.0f, A.values);
    Stored value;
    Kokkos::deep_copy(Kokkos::View<Stored*, Kokkos::HostSpace>(&value, 1), A.values);
    return float(value);
  };
  HostBlock<double> const ones(1, 5000, 1.0), large(1, 1000, 250.0), least(1, 1, 0x1p-14);
  EXPECT_EQ(result(ones, ones, 1), float(Stored(5000.0f)));
  EXPECT_EQ(result(large, large, 1e-3f), float(Stored(62500.0f)));
  auto const product = result(large, large, 1);
  constexpr bool overflows = std::is_same_v<Stored, half>;
  EXPECT_TRUE(overflows ? std::isinf(product) : product > 6e7f);
  EXPECT_EQ(result(least, least, 0x1p4f), 0x1p-24f);  // subnormal, of half the least
  EXPECT_TRUE(std::isnan(result(HostBlock<double>(1, 1, NAN), HostBlock<double>(1, 1, 1.0), 1)));
}

TYPED_TEST(StoredSddmm, RefusesWhatDoesNotFit) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  Exec const exec;
  auto const A =
      stored_on<Stored>(exec, random_matrix<double>("A", 9, 7, [](std::int64_t) { return 3; }));
  StoredBlock<Stored, Exec> const X(right, HostBlock<double>(9, 4)),
      Y(right, HostBlock<double>(7, 4));
  auto const message = [&](auto const& x, auto const& y, auto const& values) {
    return message_of([&] { sddmm(exec, Conjugated::none, 1.0f, A, x, y, 0.0f, values); });
  };
  EXPECT_THAT(message(Y.view, Y.view, A.values),
              HasSubstr("blockspan::sddmm: X must have as many rows as A (A: 9 x 7, 27 entries; X: "
                        "7 x 4; Y: 7 x 4; values: 27)"));
  EXPECT_THAT(message(X.view, X.view, A.values), HasSubstr("Y must have as many rows"));
  EXPECT_THAT(message(X.view, Y.view, Kokkos::subview(X.memory, std::pair(0, 27))),
              HasSubstr("must not overlap"));
}

}  // namespace
}  // namespace blockspan::test
