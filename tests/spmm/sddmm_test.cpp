// Products of two blocks at the entries of a matrix.
#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/sddmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

inline constexpr Conjugated all_conjugated[] = {Conjugated::none, Conjugated::first,
                                                Conjugated::second};

/// The sampled product in extended precision, a row for each entry, with the bound of theory.
template <class Scalar>
Reference<Scalar> reference_samples(Conjugated conjugated, Scalar alpha,
                                    HostMatrix<Scalar> const& A, HostBlock<Scalar> const& X,
                                    HostBlock<Scalar> const& Y, Scalar beta,
                                    HostBlock<Scalar> const& values) {
  Reference<Scalar> result(values.rows(), 1);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.offsets[i]; k < A.offsets[i + 1]; ++k) {
      for (std::int64_t j = 0; alpha != Scalar(0) && j < X.columns(); ++j) {
        auto const x = extended(X(i, j)), y = extended(Y(A.indices[k], j));
        result.value(k, 0) += (conjugated == Conjugated::first ? conjugate(x) : x) *
                              (conjugated == Conjugated::second ? conjugate(y) : y);
        result.bound(k, 0) += magnitude(X(i, j)) * magnitude(Y(A.indices[k], j));
      }
      result.value(k, 0) *= extended(alpha);
      result.bound(k, 0) *= magnitude(alpha);
      if (beta != Scalar(0)) {
        result.value(k, 0) += extended(beta) * extended(values(k, 0));
        result.bound(k, 0) += magnitude(beta) * magnitude(values(k, 0));
      }
      result.bound(k, 0) *= gamma_bound<Scalar>(X.columns() + 3);
    }
  return result;
}

/// One sampled product: what is multiplied, without where it lies.
template <class Scalar>
struct SampleCase {
  HostMatrix<Scalar> const& A;
  Conjugated conjugated = Conjugated::second;
  std::int64_t columns = 4;
  Scalar alpha = Scalar(1);
  Scalar beta = Scalar(0);

  HostBlock<Scalar> block(std::int64_t rows, std::uint64_t seed) const {
    return alpha == Scalar(0) ? HostBlock<Scalar>(rows, columns, not_a_number<Scalar>())
                              : random_block<Scalar>(rows, columns, seed);
  }
  HostBlock<Scalar> X() const { return block(A.rows, 11); }
  HostBlock<Scalar> Y() const { return block(A.columns, 12); }
  HostBlock<Scalar> values() const {
    auto const entries = static_cast<std::int64_t>(A.indices.size());
    return beta == Scalar(0) ? HostBlock<Scalar>(entries, 1, not_a_number<Scalar>())
                             : random_block<Scalar>(entries, 1, 13);
  }
  std::string words() const {
    return A.name + ", " + std::to_string(columns) + " columns, conjugated " +
           std::to_string(static_cast<int>(conjugated));
  }
};

/// What the library makes of it. The values are a column of a block in `storages.values`.
struct SampleStorages {
  Storage X = right, Y = right, values = right;
};
template <class Offset = int, class Exec, class Scalar>
HostBlock<Scalar> samples(Exec const& exec, SampleCase<Scalar> const& c,
                          SampleStorages const& storages = {}) {
  auto const A = to_device<Offset>(exec, c.A);
  auto const X = make_block(exec, storages.X, c.X());
  auto const Y = make_block(exec, storages.Y, c.Y());
  auto const values = make_block(exec, storages.values, c.values());
  sddmm(exec, c.conjugated, c.alpha, A, X.const_view(), Y.const_view(), c.beta,
        Kokkos::subview(values.view, Kokkos::ALL, 0));
  EXPECT_TRUE(values.surroundings_intact()) << c.words();
  return values.values();
}
template <class Offset = int, class Exec, class Scalar>
void expect_samples(Exec const& exec, SampleCase<Scalar> const& c,
                    SampleStorages const& storages = {}) {
  EXPECT_TRUE(
      matches(samples<Offset>(exec, c, storages),
              reference_samples(c.conjugated, c.alpha, c.A, c.X(), c.Y(), c.beta, c.values())))
      << c.words();
}

template <class Config>
class Sddmm : public ::testing::Test {};
TYPED_TEST_SUITE(Sddmm, EveryConfig, ConfigNames);

TYPED_TEST(Sddmm, IsRightForHostileMatrices) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (auto const& A : battery<Scalar>())
    for (std::int64_t const columns : {0, 1, 5, 8, 33})
      expect_samples(exec, SampleCase<Scalar>{A, Conjugated::second, columns});
}

TYPED_TEST(Sddmm, IsRightForAllWidthsOfRegistersAndPanels) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = random_matrix<Scalar>("short rows", 13, 9, [](std::int64_t i) { return i % 4; });
  for (std::int64_t columns = 1; columns <= 70; ++columns)
    expect_samples(exec, SampleCase<Scalar>{A, Conjugated::second, columns});
  for (std::int64_t const columns : {127, 128, 129, 256, 257, 600})
    expect_samples(exec, SampleCase<Scalar>{A, Conjugated::first, columns, Scalar(-0.5)});
}

TYPED_TEST(Sddmm, ConjugatesWhatItIsToldTo) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  Scalar factor(1.5);
  if constexpr (is_complex_v<Scalar>) factor = Scalar(0.5, -2);
  auto const A = arrow<Scalar>(30);
  for (auto const conjugated : all_conjugated)
    for (Scalar const beta : {Scalar(0), Scalar(1), factor})
      for (Scalar const alpha : {Scalar(0), factor})
        expect_samples(exec, SampleCase<Scalar>{A, conjugated, 6, alpha, beta});
}

TYPED_TEST(Sddmm, TakesBlocksAndValuesOfAnyStrides) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = random_matrix<Scalar>("wide", 40, 90, [](std::int64_t i) { return i % 7; });
  for (auto const x : all_storages)
    for (auto const y : all_storages)
      expect_samples(exec, SampleCase<Scalar>{A, Conjugated::first, 11}, {x, y, strided});
}

/// Many empty rows, and rows that reach over several teams.
TYPED_TEST(Sddmm, FindsTheRowsOfEntries) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (std::int64_t const gap : {1, 2, 50, 999}) {
    auto const A = random_matrix<Scalar>(
        "gaps " + std::to_string(gap), 1000, 40,
        [&](std::int64_t i) { return i % gap == gap / 2 ? 1 + i % 3 + gap : 0; });
    expect_samples(exec, SampleCase<Scalar>{A});
    expect_samples<std::size_t>(exec, SampleCase<Scalar>{A});
  }
  auto const lengths = [](std::int64_t i) { return i == 2 ? 3000 : i == 5 ? 511 : i % 2; };
  expect_samples(exec, SampleCase<Scalar>{random_matrix<Scalar>("long rows", 9, 50, lengths)});
}

TYPED_TEST(Sddmm, MayOverwriteTheValuesOfTheMatrix) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = band<Scalar>(50);
  SampleCase<Scalar> const c{host};
  auto const A = to_device(exec, host);
  auto const X = make_block(exec, right, c.X()), Y = make_block(exec, right, c.Y());
  sddmm(exec, c.conjugated, Scalar(1), A, X.view, Y.view, Scalar(0), A.values);
  auto const made = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values);
  auto const wanted = samples(exec, c);
  for (std::int64_t k = 0; k < wanted.rows(); ++k) EXPECT_EQ(made(k), wanted(k, 0)) << k;
}

/// The entries of a matrix that are its neighbours do not matter: the bits of a row are those that
/// it has alone, whichever team it falls to.
TYPED_TEST(Sddmm, HasTheBitsOfEachRowAlone) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = random_matrix<Scalar>("all", 60, 30, [](std::int64_t i) { return i; });
  SampleCase<Scalar> const all{A, Conjugated::second, 37};
  auto const whole = samples(exec, all);
  EXPECT_TRUE(same_bits(whole, samples(exec, all)));
  auto const X = all.X();
  for (std::int64_t const row : {7, 31, 59}) {
    HostMatrix<Scalar> alone{"alone", 1, A.columns, {0}, {}, {}};
    for (auto k = A.offsets[row]; k < A.offsets[row + 1]; ++k) alone.add(A.indices[k], A.values[k]);
    alone.end_row();
    HostBlock<Scalar> x(1, X.columns()), wanted(row, 1);
    for (std::int64_t j = 0; j < X.columns(); ++j) x(0, j) = X(row, j);
    for (std::int64_t k = 0; k < row; ++k) wanted(k, 0) = whole(A.offsets[row] + k, 0);
    auto const made = make_block(exec, right, HostBlock<Scalar>(row, 1));
    sddmm(exec, all.conjugated, Scalar(1), to_device(exec, alone), make_block(exec, right, x).view,
          make_block(exec, right, all.Y()).view, Scalar(0),
          Kokkos::subview(made.view, Kokkos::ALL, 0));
    EXPECT_TRUE(same_bits(made.values(), wanted)) << row;
  }
}

template <class Exec>
class SddmmCalls : public ::testing::Test {};
TYPED_TEST_SUITE(SddmmCalls, Backends, ConfigNames);

TYPED_TEST(SddmmCalls, BadShapesThrow) {
  using Exec = TypeParam;
  Exec const exec;
  auto const A = to_device(exec, random_matrix<double>("A", 9, 7, [](std::int64_t) { return 3; }));
  auto const block = [&](std::int64_t rows, std::int64_t columns) {
    return make_block(exec, right, random_block<double>(rows, columns, 1)).view;
  };
  auto const message = [&](auto const& X, auto const& Y, auto const& values) {
    return message_of([&] { sddmm(exec, Conjugated::none, 1.0, A, X, Y, 0.0, values); });
  };
  Kokkos::View<double*, typename Exec::memory_space> const values("Blockspan::test", 27),
      few("Blockspan::test", 26);
  EXPECT_THAT(message(block(7, 4), block(7, 4), values),
              HasSubstr("blockspan::sddmm: X must have as many rows as A (A: 9 x 7, 27 entries; X: "
                        "7 x 4; Y: 7 x 4; values: 27)"));
  EXPECT_THAT(message(block(9, 4), block(9, 4), values),
              HasSubstr("Y must have as many rows as A has columns"));
  EXPECT_THAT(message(block(9, 4), block(7, 3), values), HasSubstr("the same number of columns"));
  EXPECT_THAT(message(block(9, 4), block(7, 4), few), HasSubstr("values: 26"));
  auto const Y = block(7, 4);
  auto const part = Kokkos::View<double*, typename Exec::memory_space>(Y.data() + 1, 27);
  EXPECT_THAT(message(block(9, 4), Y, part), HasSubstr("must not overlap"));
}

}  // namespace
}  // namespace blockspan::test
