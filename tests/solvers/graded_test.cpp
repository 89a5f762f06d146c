// What is said of the eigenvalues of graded matrices, definite or not: Sylvester's law of inertia
// in extended precision tells whether an eigenvalue of that number lies within its bound.
#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

#include "solvers/solve.hpp"
#include "support/random.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class Graded : public ::testing::Test {};
TYPED_TEST_SUITE(Graded, ConfigsWith<InDouble>, ConfigNames);

template <class Scalar>
using Wide = std::conditional_t<is_complex_v<Scalar>, std::complex<long double>, long double>;
template <class Scalar>
Wide<Scalar> wide(Scalar const& value) {
  if constexpr (is_complex_v<Scalar>)
    return {value.real(), value.imag()};
  else
    return value;
}
template <class Scalar>
using Rows = std::vector<std::vector<Wide<Scalar>>>;

/// D C D with D of powers of two and C Hermitian, its entries of size one, of the given rank at
/// most (positive semidefinite), or, for rank 0, indefinite.
template <class Scalar>
struct GradedMatrix {
  std::vector<int> exponents;
  std::vector<std::vector<Scalar>> entries;

  GradedMatrix(int n, int spread, bool definite, Random& random) {
    for (int i = 0; i < n; ++i)
      exponents.push_back(static_cast<int>(random.below(2 * spread + 1)) - spread);
    std::vector<std::vector<Scalar>> factor(n);
    for (auto& row : factor)
      for (int k = 0; k < n; ++k)  // few bits, so that products are exact
        row.push_back(Scalar(static_cast<double>(random.below(9)) - 4));
    entries.assign(n, std::vector<Scalar>(n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        Scalar value = i == j ? Scalar(real_part(random.value<Scalar>())) : random.value<Scalar>();
        if (definite) value = Scalar(i == j ? 1 : 0);
        for (int k = 0; definite && k < n; ++k) value += factor[i][k] * factor[j][k];
        value *= std::ldexp(1.0, exponents[i] + exponents[j]);
        entries[i][j] = value, entries[j][i] = blockspan::conjugate(value);
      }
  }

  TestMatrix<Scalar> matrix() const {
    TestMatrix<Scalar> A(static_cast<int>(entries.size()));
    for (int i = 0; i < A.order(); ++i)
      for (int j = 0; j < A.order(); ++j)
        if (entries[i][j] != Scalar(0)) A.add(i, j, entries[i][j]);
    return A;
  }

  /// How many eigenvalues are less than `shift`: the negative pivots of D^-1 (A - shift I) D^-1,
  /// chosen as Bunch and Parlett (1971, doi:10.1137/0708060) do.
  int below(long double shift) const {
    int const n = static_cast<int>(entries.size());
    Rows<Scalar> M(n, std::vector<Wide<Scalar>>(n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        M[i][j] = (wide(entries[i][j]) - Wide<Scalar>(i == j ? shift : 0)) *
                  std::ldexp(1.0L, -exponents[i] - exponents[j]);
    std::vector<int> active;
    for (int i = 0; i < n; ++i) active.push_back(i);
    int negative = 0;
    while (!active.empty()) {
      int p = active[0], r = p, s = p;
      long double coupled = 0;
      for (int const i : active) {
        if (std::abs(M[i][i]) > std::abs(M[p][p])) p = i;
        for (int const j : active)
          if (i != j && std::abs(M[i][j]) > coupled) coupled = std::abs(M[i][j]), r = i, s = j;
      }
      if (std::abs(M[p][p]) >= 0.64L * coupled) {
        negative += std::real(M[p][p]) < 0 ? 1 : 0;
        std::erase(active, p);
        for (int const i : active)
          for (int const j : active) M[i][j] -= M[i][p] * M[p][j] / M[p][p];
      } else {
        ++negative;  // one pivot of each sign
        auto const det = M[r][r] * M[s][s] - M[r][s] * M[s][r];
        std::erase(active, r), std::erase(active, s);
        for (int const i : active)
          for (int const j : active)
            M[i][j] -= (M[i][r] * (M[s][s] * M[r][j] - M[r][s] * M[s][j]) +
                        M[i][s] * (M[r][r] * M[s][j] - M[s][r] * M[r][j])) /
                       det;
      }
    }
    return negative;
  }
};

/// An eigenvalue is within every bound, and that of its number has the digits of a pair that has
/// converged.
TYPED_TEST(Graded, EigenvaluesAreWhereTheirBoundsSay) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Random random(5);
  int certain = 0, all = 0;
  for (int trial = 0; trial < 60; ++trial) {
    int const n = 4 + static_cast<int>(random.below(8)), spread = trial % 3 == 0 ? 4 : 18;
    GradedMatrix<Scalar> const A(n, spread, trial % 2 == 1, random);
    int const wanted = n - 2;
    auto const solved = solve<Scalar, Exec>(A.matrix(), nullptr, wanted, [](auto& options, auto&) {
      options.path = SolvePath::dense;
      options.criterion = Criterion::digits;
      options.digits = 4;
    });
    auto const& report = solved.report;
    for (int j = 0; j < wanted; ++j) {
      ++all;
      long double const value = report.eigenvalues[j], bound = report.error_bounds[j];
      auto const status = report.pair_status[j];
      long double const most = bound * 1.001L + 1e-300L, digits = 1e-4L * std::abs(value);
      EXPECT_GT(A.below(value + most), A.below(value - most))
          << "trial " << trial << ", pair " << j << " of " << n << ": " << value << " +- " << bound;
      EXPECT_NE(status, Status::zero_eigenvalue);
      if (status != Status::converged) continue;
      ++certain;
      EXPECT_LE(bound, digits);
      EXPECT_LE(A.below(value - digits), j) << "trial " << trial;
      EXPECT_GT(A.below(value + digits), j) << "trial " << trial;
    }
  }
  EXPECT_GE(certain, all / 2);  // most of them are not at their limit
}

}  // namespace
}  // namespace blockspan::test
