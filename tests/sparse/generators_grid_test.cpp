#include <algorithm>
#include <cmath>
#include <numbers>

#include <blockspan/support/lapack/lapack.hpp>

#include "generators_support.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
struct GridGenerators : ::testing::Test {};
TYPED_TEST_SUITE(GridGenerators, Backends, ConfigNames);

/// 2 cos(pi k / (n + 1)): the eigenvalues of the path with n points.
double path_eigenvalue(int k, int n) { return 2 * std::cos(std::numbers::pi * k / (n + 1)); }

template <class Eigenvalue>
std::vector<double> closed_form(int nx, int ny, int nz, Eigenvalue eigenvalue) {
  std::vector<double> all;
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j)
      for (int k = 1; k <= nz; ++k)
        all.push_back(
            eigenvalue(path_eigenvalue(i, nx), path_eigenvalue(j, ny), path_eigenvalue(k, nz)));
  std::sort(all.begin(), all.end());
  return all;
}

/// Dense eigenvalues, with the bound n u ||A|| on their error.
void expect_spectrum(HostMatrix<double> const& A, std::vector<double> const& expected) {
  std::size_t const n = std::size_t(A.rows);
  ASSERT_EQ(n, expected.size());
  SmallMatrix<double> G("G", n, n);
  auto const full = dense(A);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) G(i, j) = full[i * n + j];
  std::vector<double> eigenvalues;
  ASSERT_EQ(lapack::hermitian_eigen(G, eigenvalues), 0);
  double const largest = std::max(std::abs(expected.front()), std::abs(expected.back()));
  double const bound = 4 * double(n) * unit_roundoff<double> * largest;
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(eigenvalues[i], expected[i], bound) << i;
}

TYPED_TEST(GridGenerators, HaveTheSpectrumOfTheFivePointGrid) {
  expect_spectrum(generated<TypeParam>("laplace5:7x5"),
                  closed_form(7, 5, 1, [](double x, double y, double) { return 4 - x - y; }));
}

TYPED_TEST(GridGenerators, HaveTheSpectrumOfTheSevenPointGrid) {
  auto const expected =
      closed_form(4, 5, 3, [](double x, double y, double z) { return 6 - x - y - z; });
  expect_spectrum(generated<TypeParam>("laplace7:4x5x3"), expected);
  expect_spectrum(generated<TypeParam>("laplace7:4x5x3:permute"), expected);
}

TYPED_TEST(GridGenerators, HaveTheSpectrumOfTheTwentySevenPointGrid) {
  expect_spectrum(generated<TypeParam>("laplace27:4x3x5"),
                  closed_form(4, 3, 5, [](double x, double y, double z) {
                    return 27 - (1 + x) * (1 + y) * (1 + z);
                  }));
}

TYPED_TEST(GridGenerators, HaveTheSpectrumOfTheAnisotropicGrid) {
  expect_spectrum(generated<TypeParam>("aniso7:3x4x5:1,0.1,30"),
                  closed_form(3, 4, 5, [](double x, double y, double z) {
                    return (2 - x) + 0.1 * (2 - y) + 30 * (2 - z);
                  }));
}

TYPED_TEST(GridGenerators, NumberPointsWithXFastest) {
  auto const A = generated<TypeParam>("laplace7:3x4x5");
  int const middle = 1 + 3 * (2 + 4 * 2);
  std::vector<int> const row(A.entries.begin() + A.row_map[middle],
                             A.entries.begin() + A.row_map[middle + 1]);
  EXPECT_EQ(row, (std::vector<int>{middle - 12, middle - 3, middle - 1, middle, middle + 1,
                                   middle + 3, middle + 12}));
}

TYPED_TEST(GridGenerators, JumpWithoutContrastIsTheSevenPointGrid) {
  EXPECT_EQ(generated<TypeParam>("jump7:5x4x3:1"), generated<TypeParam>("laplace7:5x4x3"));
}

TYPED_TEST(GridGenerators, JumpTakesTheHarmonicMeanBetweenCubesOfOneCoefficient) {
  double const contrast = 1000, mean = 2 * contrast / (1 + contrast);
  auto const A = generated<TypeParam>("jump7:12:1000:width=3");
  std::int64_t faces_of[3] = {0, 0, 0};
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double off_diagonal = 0, diagonal = 0;
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      double const value = A.values[k];
      if (A.entries[k] == i) {
        diagonal = value;
        continue;
      }
      off_diagonal -= value;
      bool const is_mean = std::abs(-value - mean) <= 4 * unit_roundoff<double> * mean;
      ASSERT_TRUE(value == -1 || value == -contrast || is_mean) << value;
      ++faces_of[value == -1 ? 0 : value == -contrast ? 2 : 1];
      // Along x, the coefficient changes only where a cube ends.
      EXPECT_FALSE(is_mean && A.entries[k] == i + 1 && i % 3 != 2) << i;
    }
    EXPECT_GE(diagonal, off_diagonal * (1 - 8 * unit_roundoff<double>)) << i;
  }
  for (auto const count : faces_of) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace blockspan::test
