#include <bit>
#include <map>
#include <set>

#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

#include "generators_support.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
struct Generators : ::testing::Test {};
TYPED_TEST_SUITE(Generators, Backends, ConfigNames);

/// A fingerprint of structure and values, bit by bit.
std::uint64_t fingerprint(HostMatrix<double> const& A) {
  std::uint64_t h = 0xcbf29ce484222325u;
  auto const add = [&h](std::uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  };
  add(std::uint64_t(A.rows));
  add(std::uint64_t(A.columns));
  for (auto const offset : A.row_map) add(std::uint64_t(offset));
  for (auto const column : A.entries) add(std::uint64_t(column));
  for (auto const value : A.values) add(std::bit_cast<std::uint64_t>(value));
  return h;
}

/// Recorded once: what every backend, compiler and machine has to give. (powerlaw and
/// lognormal are absent: their tables of lengths come from the host's pow and erfc.)
std::map<std::string_view, std::uint64_t> const& recorded_fingerprints() {
  static std::map<std::string_view, std::uint64_t> const recorded{
      {"laplace5:7x9", 0xf7acb79cff05ed56u},
      {"laplace7:4x5x6", 0xea4bc6bc8374d04au},
      {"laplace27:3x4x5", 0x49b9fff0722813f8u},
      {"aniso7:4x3x5:1,0.1,30", 0x9b5203275fbcf15au},
      {"jump7:9x8x7:1000:width=2:seed=4", 0x869b688c90e7ebaau},
      {"elasticity:4", 0x06ba70d8b1c09c99u},
      {"elasticity:3:free", 0x8658f3e0e1ba0ba9u},
      {"elasticity-mass:4", 0xde9e76ac0674c02au},
      {"elasticity-mass:3:free", 0x5efea678dd97ba24u},
      {"p1:4", 0xb8bad976200d71a6u},
      {"p1-mass:3:free:seed=2", 0xc9e9aeddc11d77f6u},
      {"rmat:8:6:seed=7", 0xd6cd3b95d5409cbau},
      {"rmat:7:9:symmetric", 0x5b52d9253ec24871u},
      {"uniform:60x60:20:seed=2", 0x4f2705aa81a7ca53u},
      {"uniform:60x60:20:symmetric", 0xd581af01e081a3cau},
      {"fixed:50x50:7", 0x54eba03c1a730a62u},
      {"hypersparse:200x200:0.3", 0xaeeb33470a5db269u},
      {"banded:40:3", 0x43b0ab736ce0a7e2u},
      {"banded:40:3:symmetric", 0xc01f7261b48f1db8u},
      {"laplace7:5:permute=6", 0x58dbd26783bbf318u},
      {"permute:seed=6:fixed:50x50:7:symmetric", 0xc39c37adde1a066cu},
      {"uniform:20x300:10", 0x4f7c3bc0014cd014u},
      {"fixed:30x70:5:permute=2", 0x0fc022293629b01du},
      {"hypersparse:100x60:1.4", 0x5c1c99ba1f747d78u},
      {"wide:5x20000:600:values=positive", 0x41ea032b30748048u},
      {"star:6x3x7:4", 0x84ec61d24002b928u},
      {"spins:7", 0xd715719418ca4709u},
      {"queues:4", 0x2fd1585f4b2782b3u},
      {"wells:4x3x5:2,6,40", 0xe96e45c952550608u},
      {"wells:4x3x5:2,6,40:symmetric", 0x94c6ab4a2e3f6795u},
      {"circuit:150:4,5,60", 0x53f4203091a43956u},
      {"patches:150:9", 0x8e337bdd5baed7f8u},
      {"attachment:70:4", 0x7163c743086ae95cu},
      {"saddle:40:15", 0x064667af835b05c0u}};
  return recorded;
}

TYPED_TEST(Generators, GiveTheRecordedBitsOnEveryBackend) {
  for (auto const& [spec, expected] : recorded_fingerprints())
    EXPECT_EQ(fingerprint(generated<TypeParam>(spec)), expected) << spec;
}

TYPED_TEST(Generators, AgreeToTheBitWithTheHost) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  if constexpr (has_backend<Host>) {
    for (auto const spec : all_specs())
      EXPECT_EQ(generated<TypeParam>(spec), generated<Host>(spec)) << spec;
  } else {
    GTEST_SKIP() << needs_host;
  }
}

TYPED_TEST(Generators, MakeDistinctAscendingColumnsInRange) {
  for (auto const spec : all_specs()) {
    auto const A = generated<TypeParam>(spec);
    auto const parsed = parse_generator_spec(spec);
    EXPECT_EQ(A.rows, parsed.rows) << spec;
    EXPECT_EQ(A.columns, parsed.columns) << spec;
    ASSERT_EQ(A.row_map.front(), 0) << spec;
    ASSERT_EQ(A.row_map.back(), std::int64_t(A.entries.size())) << spec;
    EXPECT_TRUE(parsed.nonzeros < 0 || parsed.nonzeros == A.row_map.back()) << spec;
    for (std::int64_t i = 0; i < A.rows; ++i) {
      ASSERT_LE(A.row_map[i], A.row_map[i + 1]) << spec;
      int previous = -1;
      for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        ASSERT_LT(previous, A.entries[k]) << spec << ", row " << i;
        previous = A.entries[k];
      }
      ASSERT_LT(previous, A.columns) << spec;
    }
  }
}

TYPED_TEST(Generators, AreSymmetricToTheBitWhereTheSpecSaysSo) {
  for (auto const spec : square_specs()) {
    auto const A = generated<TypeParam>(spec);
    auto const full = dense(A);
    std::size_t const n = std::size_t(A.rows);
    bool symmetric = true;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) symmetric &= full[i * n + j] == full[j * n + i];
    EXPECT_EQ(symmetric, parse_generator_spec(spec).is_symmetric) << spec;
  }
}

TYPED_TEST(Generators, AreHermitianForComplexScalars) {
  using Complex = Kokkos::complex<double>;
  for (auto const spec : square_specs()) {
    if (!parse_generator_spec(spec).is_symmetric) continue;
    auto const A = generated<TypeParam, Complex>(spec);
    auto const full = dense(A);
    std::size_t const n = std::size_t(A.rows);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        ASSERT_EQ(full[i * n + j], conjugate(full[j * n + i])) << spec;
  }
  auto const random = generated<TypeParam, Complex>("rmat:7:9:symmetric");
  bool has_imaginary = false;
  for (Complex const& value : random.values) has_imaginary |= value.imag() != 0;
  EXPECT_TRUE(has_imaginary);
}

TYPED_TEST(Generators, RoundTheDoubleMatrixForFloat) {
  for (auto const spec : all_specs()) {
    auto const A = generated<TypeParam, double>(spec);
    auto const B = generated<TypeParam, float>(spec);
    auto const C = generated<TypeParam, Kokkos::complex<float>>(spec);
    ASSERT_EQ(A.entries, B.entries) << spec;
    ASSERT_EQ(A.entries, C.entries) << spec;
    for (std::size_t k = 0; k < A.values.size(); ++k) {
      ASSERT_EQ(static_cast<float>(A.values[k]), B.values[k]) << spec;
      ASSERT_EQ(C.values[k].real(), B.values[k]) << spec;
    }
  }
}

TYPED_TEST(Generators, AreTheSameWithWideOffsets) {
  for (auto const spec : all_specs())
    EXPECT_EQ((generated<TypeParam, double, int>(spec)),
              (generated<TypeParam, double, std::size_t>(spec)))
        << spec;
}

TYPED_TEST(Generators, DependOnTheSeed) {
  for (std::string_view const spec :
       {"rmat:7:6", "uniform:60x60:20", "fixed:50x50:7", "powerlaw:90x90:6:2.2", "banded:9:2",
        "hypersparse:200x200:0.3", "wide:5x2000:60", "jump7:9:10:width=2", "wells:4:1,3,20",
        "lognormal:90x90:6:1", "circuit:90:3,2,30", "patches:90:5", "attachment:50:3",
        "saddle:40:9"}) {
    auto const seeded = [&](char const* seed) {
      return generated<TypeParam>(std::string(spec) + ":seed=" + seed);
    };
    EXPECT_EQ(generated<TypeParam>(spec), seeded("1")) << spec;
    EXPECT_NE(seeded("1"), seeded("2")) << spec;
  }
  EXPECT_NE(generated<TypeParam>("laplace7:4:permute=1"),
            generated<TypeParam>("laplace7:4:permute=2"));
}

TYPED_TEST(Generators, MakeEmptyAndSingleRowMatrices) {
  for (std::string_view const spec :
       {"laplace7:0", "laplace5:0x4", "laplace27:3x0x2", "jump7:0:10", "fixed:0x0:0", "banded:0:4",
        "hypersparse:0x5:0.5", "rmat:3:0", "star:0:4", "queues:0", "wells:0:3,0,0",
        "circuit:0:3,0,0", "attachment:0:3", "fixed:4x0:0", "uniform:0x10:50:permute",
        "fixed:0x0:0:symmetric:permute"}) {
    auto const A = generated<TypeParam>(spec);
    EXPECT_TRUE(A.entries.empty()) << spec;
    EXPECT_EQ(A.row_map, std::vector<std::int64_t>(std::size_t(A.rows + 1), 0)) << spec;
  }
  for (std::string_view const spec :
       {"laplace7:1", "laplace27:1", "banded:1:9", "fixed:1x1:1", "rmat:0:5", "laplace7:1:permute",
        "star:1:4", "queues:1", "wells:1:1,1,1", "circuit:1:3,1,1", "attachment:1:5",
        "uniform:1x1:100:symmetric"}) {
    auto const A = generated<TypeParam>(spec);
    EXPECT_EQ(A.rows, 1) << spec;
    EXPECT_EQ(A.entries, std::vector<int>{0}) << spec;
  }
}

TYPED_TEST(Generators, RefuseMoreNonzerosThanTheOffsetsCount) {
  for (std::string_view const spec :
       {"fixed:1000000x1000000:3000", "laplace27:600", "elasticity:300", "uniform:2000000x3000:100",
        "spins:30", "saddle:1000000000:1"})
    EXPECT_THROW((generate<double, TypeParam, int>(TypeParam(), spec)), Error) << spec;
}

/// The place of each value that occurs once.
std::map<double, std::pair<std::int64_t, int>> places(HostMatrix<double> const& A) {
  std::map<double, std::pair<std::int64_t, int>> found;
  std::set<double> repeated;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (!found.emplace(A.values[k], std::pair(i, A.entries[k])).second)
        repeated.insert(A.values[k]);
  for (double const value : repeated) found.erase(value);
  return found;
}

/// Random values name the entries, so the permutation can be read off and checked.
void expect_permuted(HostMatrix<double> const& A, HostMatrix<double> const& B, bool square) {
  ASSERT_EQ(A.entries.size(), B.entries.size());
  auto const from = places(A), to = places(B);
  ASSERT_EQ(from.size(), to.size());
  std::map<std::int64_t, std::int64_t> rows, columns, back;
  for (auto const& [value, place] : from) {
    ASSERT_TRUE(to.contains(value));
    auto const [i, j] = to.at(value);
    ASSERT_EQ(rows.emplace(place.first, i).first->second, i);
    ASSERT_EQ(back.emplace(i, place.first).first->second, place.first);
    ASSERT_EQ((square ? rows : columns).emplace(place.second, j).first->second, j);
  }
  std::int64_t moved = 0;
  for (auto const& [row, place] : rows) moved += row != place;
  EXPECT_GT(moved, std::int64_t(rows.size()) / 2);
}

TYPED_TEST(Generators, PermuteRowsAndColumnsOfASquareMatrixAlike) {
  for (std::string const spec : {"fixed:60x60:9", "rmat:9:8", "powerlaw:100x100:5:2.1"})
    expect_permuted(generated<TypeParam>(spec), generated<TypeParam>(spec + ":permute=3"), true);
}

TYPED_TEST(Generators, PermuteARectangularMatrixWithShortAndWithVeryLongRows) {
  for (std::string const spec : {"fixed:60x90:9", "fixed:6x9000:4500"})
    expect_permuted(generated<TypeParam>(spec), generated<TypeParam>(spec + ":permute"), false);
}

TYPED_TEST(Generators, PermuteTheValuesOfAGridWithItsPattern) {
  auto const A = generated<TypeParam>("jump7:6:1000:width=1");
  auto const B = generated<TypeParam>("jump7:6:1000:width=1:permute");
  auto const rows_of = [](HostMatrix<double> const& M) {
    std::multiset<std::multiset<double>> rows;
    for (std::int64_t i = 0; i < M.rows; ++i)
      rows.emplace(M.values.begin() + M.row_map[i], M.values.begin() + M.row_map[i + 1]);
    return rows;
  };
  EXPECT_NE(A, B);
  EXPECT_EQ(rows_of(A), rows_of(B));
}

}  // namespace
}  // namespace blockspan::test
