#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/symmetry.hpp>

#include "sparse/dense.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class Symmetry : public ::testing::Test {
 protected:
  /// A 3 x 3 matrix with all entries stored, row by row.
  template <class Scalar>
  auto full(std::vector<Scalar> const& values) {
    return make_matrix<Scalar, Exec>({0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, values, 3);
  }
  /// [2 a; b 2] with entries scaled.
  auto pair(double a, double b, double scale = 1) {
    return make_matrix<double, Exec>({0, 2, 4}, {0, 1, 0, 1}, {2 * scale, a, b, 2 * scale}, 2);
  }
};
TYPED_TEST_SUITE(Symmetry, Backends, ConfigNames);

TYPED_TEST(Symmetry, GeneratedMatricesAreSymmetric) {
  TypeParam const exec;
  for (auto const* spec : {"laplace7:7", "elasticity:3", "elasticity-mass:3"})
    EXPECT_TRUE(find_asymmetry(exec, generate<double>(exec, spec))) << spec;
  EXPECT_FALSE(find_asymmetry(exec, generate<double>(exec, "uniform:50x50:4")));
}

TYPED_TEST(Symmetry, NothingIsSymmetric) {
  TypeParam const exec;
  EXPECT_TRUE(find_asymmetry(exec, CrsMatrix<double, TypeParam>()));
  EXPECT_TRUE(find_asymmetry(exec, make_matrix<double, TypeParam>({0, 0, 0}, {}, {}, 2)));
}

TYPED_TEST(Symmetry, TheWorstEntryAndItsMirrorAreNamed) {
  TypeParam const exec;
  auto const found =
      find_asymmetry(exec, this->template full<double>({4, 1, 2, 1.01, 4, -3, 2, 3, 4}));
  EXPECT_FALSE(found);
  EXPECT_EQ(found.row, 1);
  EXPECT_EQ(found.column, 2);
  EXPECT_EQ(found.entry, -3);
  EXPECT_EQ(found.mirror, 3);
  EXPECT_EQ(found.difference, 2);
}

TYPED_TEST(Symmetry, AnEntryWithoutMirrorIsFoundOnEitherSide) {
  TypeParam const exec;
  for (bool const upper : {false, true}) {
    auto const A = upper ? make_matrix<double, TypeParam>({0, 2, 3}, {0, 1, 1}, {1, 0.5, 1}, 2)
                         : make_matrix<double, TypeParam>({0, 1, 3}, {0, 0, 1}, {1, 0.5, 1}, 2);
    auto const found = find_asymmetry(exec, A);
    EXPECT_FALSE(found);
    EXPECT_EQ(found.row, upper ? 0 : 1);
    EXPECT_EQ(found.entry, 0.5);
    EXPECT_EQ(found.mirror, 0);
    EXPECT_EQ(found.difference, 1);
  }
  // an explicit zero is no entry
  EXPECT_TRUE(
      find_asymmetry(exec, make_matrix<double, TypeParam>({0, 2, 3}, {0, 1, 1}, {1, 0, 1}, 2)));
}

TYPED_TEST(Symmetry, AFewUnitsInTheLastPlaceAreForgivenAtEveryScale) {
  TypeParam const exec;
  double const u = std::numeric_limits<double>::epsilon();
  for (double const scale : {1.0, 1e-300, 8e307}) {
    for (double const size : {1.0, 1e-7}) {  // beside diagonal entries of 2
      double const a = size * scale;
      EXPECT_TRUE(find_asymmetry(exec, this->pair(a, a, scale)).exact());
      EXPECT_TRUE(find_asymmetry(exec, this->pair(a, a * (1 + 4 * u), scale)));
      EXPECT_FALSE(find_asymmetry(exec, this->pair(a, a * (1 + 4 * u), scale)).exact());
      for (double const skew : {40 * u, 1e-12, 1e-7})
        EXPECT_FALSE(find_asymmetry(exec, this->pair(a, a * (1 + skew), scale))) << skew;
      EXPECT_FALSE(find_asymmetry(exec, this->pair(a, -a, scale)));
    }
    EXPECT_NEAR(find_asymmetry(exec, this->pair(scale, scale * 1.25, scale)).difference, 0.2,
                1e-15);
    EXPECT_EQ(find_asymmetry(exec, this->pair(scale, -scale, scale)).difference, 2);
  }
  // numbers below the normal ones have few digits, which rounding may change
  double const least = std::numeric_limits<double>::denorm_min();
  EXPECT_TRUE(find_asymmetry(exec, this->pair(least, 3 * least)));
  EXPECT_FALSE(find_asymmetry(exec, this->pair(least, 100 * least)));
  EXPECT_FALSE(find_asymmetry(exec, this->pair(least, 0)));
}

TYPED_TEST(Symmetry, AHugeEntryElsewhereExcusesNothing) {
  TypeParam const exec;
  auto const A = this->template full<double>({1e30, 0, 0, 0, 2, 1, 0, 0.999, 2});
  auto const found = find_asymmetry(exec, A);
  EXPECT_FALSE(found);
  EXPECT_EQ(found.row, 1);
  EXPECT_EQ(found.column, 2);
}

TYPED_TEST(Symmetry, ComplexMatricesAreComparedWithTheirConjugate) {
  using Complex = Kokkos::complex<double>;
  TypeParam const exec;
  Complex const i(0, 1), one(1, 0), zero(0, 0);
  EXPECT_TRUE(find_asymmetry(
      exec, this->template full<Complex>({one, i, zero, -i, one, one, zero, one, one})));
  auto const symmetric = find_asymmetry(
      exec, this->template full<Complex>({one, i, zero, i, one, one, zero, one, one}));
  EXPECT_FALSE(symmetric);
  EXPECT_EQ(symmetric.row, 0);
  EXPECT_EQ(symmetric.column, 1);
  auto const diagonal = find_asymmetry(
      exec, this->template full<Complex>({one, i, zero, -i, i, one, zero, one, one}));
  EXPECT_FALSE(diagonal);
  EXPECT_EQ(diagonal.row, 1);
  EXPECT_EQ(diagonal.column, 1);
  Complex const nearly(2, 4e-16), not_so(2, 1e-13);
  EXPECT_TRUE(find_asymmetry(
      exec, this->template full<Complex>({nearly, i, zero, -i, one, one, zero, one, one})));
  EXPECT_FALSE(find_asymmetry(
      exec, this->template full<Complex>({not_so, i, zero, -i, one, one, zero, one, one})));
}

TYPED_TEST(Symmetry, UnsortedRowsAndRepeatedEntriesAreAddedUp) {
  TypeParam const exec;
  // [2 1; 1 2] with a_01 = 0.25 + 0.75 stored in parts and the wrong way round
  auto const A =
      make_matrix<double, TypeParam>({0, 3, 5}, {1, 0, 1, 1, 0}, {0.25, 2, 0.75, 2, 1}, 2);
  EXPECT_TRUE(find_asymmetry(exec, A));
  auto const B =
      make_matrix<double, TypeParam>({0, 3, 5}, {1, 0, 1, 1, 0}, {0.25, 2, 0.5, 2, 1}, 2);
  auto const found = find_asymmetry(exec, B);
  EXPECT_FALSE(found);
  EXPECT_EQ(found.entry, 0.75);
  EXPECT_EQ(found.mirror, 1);
}

TYPED_TEST(Symmetry, SumsOfProductsAreJudgedByWhatWasSummed) {
  TypeParam const exec;
  double const u = std::numeric_limits<double>::epsilon();
  // a small entry that is left of sums of numbers of size one, in two orders
  auto const small = this->template full<double>({2, 1, 3 * u, 1, 2, 1, 9 * u, 1, 2});
  EXPECT_FALSE(find_asymmetry(exec, small));
  auto const found = find_scaled_asymmetry(exec, small);
  EXPECT_GT(found.difference, 0);
  EXPECT_LE(found.difference, found.rounding_of_sums);
  // at every scaling of rows and columns
  double const a = 1e-150, b = 1e100;
  auto const scaled = this->template full<double>(
      {2 * a * a, a, 3 * u * a * b, a, 2, b, 9 * u * a * b, b, 2 * b * b});
  EXPECT_NEAR(find_scaled_asymmetry(exec, scaled).difference, found.difference, 4 * u);
  // what is no rounding is named, beside what differs more but is
  auto const wrong = this->template full<double>({2, 1, 3 * u, 1 + 1e-9, 2, 1, -9 * u, 1, 2});
  auto const worst = find_scaled_asymmetry(exec, wrong);
  EXPECT_GT(worst.difference, worst.rounding_of_sums);
  EXPECT_EQ(worst.row, 0);
  EXPECT_EQ(worst.column, 1);
  EXPECT_EQ(worst.mirror, 1 + 1e-9);
  EXPECT_TRUE(find_scaled_asymmetry(exec, generate<double>(exec, "laplace7:7")).exact());
}

TYPED_TEST(Symmetry, EveryChangeOfOneEntryIsSeen) {
  using Complex = Kokkos::complex<double>;
  TypeParam const exec;
  for (auto const* spec : {"rmat:7:8", "elasticity:3"}) {
    auto const A = generate<double>(exec, spec);
    auto const symmetric = hermitian_mean(exec, A);
    EXPECT_TRUE(find_asymmetry(exec, symmetric).exact());
    HostCopy const host(symmetric);
    auto const values = Kokkos::create_mirror_view(symmetric.values);
    Kokkos::deep_copy(values, symmetric.values);
    for (std::size_t i = 0; i < host.rows(); i += 5)
      for (auto p = host.offsets(i); p < host.offsets(i + 1); ++p) {
        double const before = values(p);
        values(p) = std::nextafter(before, 1e300);
        Kokkos::deep_copy(symmetric.values, values);
        bool const on_diagonal = static_cast<std::size_t>(host.indices(p)) == i;
        EXPECT_EQ(find_asymmetry(exec, symmetric).exact(), on_diagonal) << i;
        values(p) = before;
      }
    Kokkos::deep_copy(symmetric.values, values);
    EXPECT_TRUE(find_asymmetry(exec, symmetric).exact());
  }
  // signs of zeros and not-numbers are no differences, parts of complex numbers are
  double const nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(find_asymmetry(exec, this->pair(-0.0, 0.0)).exact());
  EXPECT_TRUE(find_asymmetry(exec, this->pair(nan, nan)).exact());
  EXPECT_TRUE(find_asymmetry(exec, this->pair(nan, 1)).exact());
  Complex const i(0, 1), one(1, 0), zero(0, 0);
  for (int part = 0; part < 2; ++part) {
    Complex const off = part == 0 ? Complex(1e-9, -1) : Complex(0, -1 - 1e-9);
    EXPECT_FALSE(find_asymmetry(
        exec, this->template full<Complex>({one, i, zero, off, one, one, zero, one, one})));
  }
}

TYPED_TEST(Symmetry, TheMeanIsHermitianToTheBit) {
  using Complex = Kokkos::complex<double>;
  TypeParam const exec;
  double const e = 1e-9;
  auto const A = this->template full<Complex>({Complex(2, e), Complex(1, 1 + e), Complex(3),
                                               Complex(1 - e, -1), Complex(8e307, 0), Complex(0, e),
                                               Complex(3, -e), Complex(0, e), Complex(1)});
  EXPECT_FALSE(find_asymmetry(exec, A));
  auto const mean = hermitian_mean(exec, A);
  EXPECT_TRUE(find_asymmetry(exec, mean).exact());
  auto const a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values);
  auto const m = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mean.values);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(m(3 * i + j), Kokkos::conj(m(3 * j + i)));
      EXPECT_EQ(m(3 * i + j), 0.5 * a(3 * i + j) + 0.5 * Kokkos::conj(a(3 * j + i)));
    }
  // what is Hermitian stays where it is
  EXPECT_EQ(hermitian_mean(exec, mean).values.data(), mean.values.data());
}

TYPED_TEST(Symmetry, TheMeanOfAnEntryWithoutMirrorIsTwoHalves) {
  using Complex = Kokkos::complex<double>;
  TypeParam const exec;
  // unsorted rows; a_02 and a_10 have no mirrors, a_12 has one, a_33 is not real
  auto const A = make_matrix<Complex, TypeParam>(
      {0, 2, 4, 5, 6}, {2, 0, 2, 0, 1, 3},
      {Complex(4, 2), Complex(1), Complex(1), Complex(0, 6), Complex(3), Complex(5, 1)}, 4);
  auto const mean = hermitian_mean(exec, A);
  Entries const expected{{{0, 0}, 1}, {{0, 1}, {0, -3}}, {{0, 2}, {2, 1}}, {{1, 0}, {0, 3}},
                         {{1, 2}, 2}, {{2, 0}, {2, -1}}, {{2, 1}, 2},      {{3, 3}, 5}};
  EXPECT_EQ(entries_of(mean), expected);
  EXPECT_TRUE(HostCopy(mean).sorted_and_unique());
}

TYPED_TEST(Symmetry, AMatrixThatIsNotSquareIsRefused) {
  EXPECT_THROW(find_asymmetry(TypeParam(), make_matrix<double, TypeParam>({0, 1}, {1}, {1}, 2)),
               Error);
}

}  // namespace
}  // namespace blockspan::test
