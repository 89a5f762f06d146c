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
  EXPECT_EQ(found.largest_in_row, 4);
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
  }
  // an explicit zero is no entry
  EXPECT_TRUE(
      find_asymmetry(exec, make_matrix<double, TypeParam>({0, 2, 3}, {0, 1, 1}, {1, 0, 1}, 2)));
}

TYPED_TEST(Symmetry, RoundingIsForgivenAtEveryScale) {
  TypeParam const exec;
  for (double const scale : {1.0, 1e-300, 8e307}) {
    EXPECT_TRUE(find_asymmetry(exec, this->pair(scale, scale * (1 + 1e-15), scale)));
    EXPECT_TRUE(find_asymmetry(exec, this->pair(scale, scale * (1 + 5e-7), scale)));
    EXPECT_FALSE(find_asymmetry(exec, this->pair(scale, scale * (1 + 2e-6), scale)));
    EXPECT_FALSE(find_asymmetry(exec, this->pair(scale, -scale, scale)));
    // what a sum of terms as large as the diagonal leaves of zero
    EXPECT_TRUE(find_asymmetry(exec, this->pair(1e-7 * scale, -1e-7 * scale, scale)));
    EXPECT_FALSE(find_asymmetry(exec, this->pair(1e-6 * scale, -1e-6 * scale, scale)));
  }
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

TYPED_TEST(Symmetry, TheMeanIsHermitianToTheBit) {
  using Complex = Kokkos::complex<double>;
  TypeParam const exec;
  double const e = 1e-9;
  auto const A = this->template full<Complex>({Complex(2, e), Complex(1, 1 + e), Complex(3),
                                               Complex(1 - e, -1), Complex(8e307, 0), Complex(0, e),
                                               Complex(3, -e), Complex(0, e), Complex(1)});
  ASSERT_TRUE(find_asymmetry(exec, A));
  EXPECT_FALSE(find_asymmetry(exec, A).exact);
  auto const mean = hermitian_mean(exec, A);
  EXPECT_TRUE(find_asymmetry(exec, mean).exact);
  auto const a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values);
  auto const m = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mean.values);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(m(3 * i + j), Kokkos::conj(m(3 * j + i)));
      EXPECT_EQ(m(3 * i + j), 0.5 * a(3 * i + j) + 0.5 * Kokkos::conj(a(3 * j + i)));
    }
  // what is Hermitian stays where it is
  EXPECT_EQ(hermitian_mean(exec, mean).values.data(), mean.values.data());
  // an entry without a mirror: a_02 = 1e-8 beside diagonal entries of 1
  auto const lone = make_matrix<double, TypeParam>({0, 2, 3, 4}, {0, 2, 1, 2}, {1, 1e-8, 1, 1}, 3);
  auto const dropped =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), hermitian_mean(exec, lone).values);
  EXPECT_EQ(dropped(1), 0);
  EXPECT_THROW(
      hermitian_mean(exec, make_matrix<double, TypeParam>({0, 2, 3}, {1, 0, 1}, {1, 1, 1}, 2)),
      Error);
}

TYPED_TEST(Symmetry, AMatrixThatIsNotSquareIsRefused) {
  EXPECT_THROW(find_asymmetry(TypeParam(), make_matrix<double, TypeParam>({0, 1}, {1}, {1}, 2)),
               Error);
}

}  // namespace
}  // namespace blockspan::test
