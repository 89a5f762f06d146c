// What is said of eigenvalues by their number: bounds and intervals hold, none is missed, zeros
// have zero in their interval. Truth by Sturm sequences of tridiagonal pencils in extended
// precision.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/lobpcg/accuracy/certain_digits.hpp>

#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

template <class Scalar>
using RealDouble = std::is_same<Scalar, double>;
template <class Config>
class Bounds : public ::testing::Test {};
TYPED_TEST_SUITE(Bounds, ConfigsWith<RealDouble>, ConfigNames);

/// T x = lambda diag(m) x with the diagonals d and e of T.
struct Tridiagonal {
  std::vector<double> d, e, m;

  static Tridiagonal second_difference(int n) {
    return {std::vector<double>(n, 2), std::vector<double>(n - 1, -1), std::vector<double>(n, 1)};
  }
  int order() const { return static_cast<int>(d.size()); }
  /// D T D
  Tridiagonal graded(std::vector<int> const& exponents) const {
    Tridiagonal result = *this;
    auto const factor = [&](int i) { return std::pow(10.0, exponents[i]); };
    for (int i = 0; i < order(); ++i) result.d[i] *= factor(i) * factor(i);
    for (int i = 0; i + 1 < order(); ++i) result.e[i] *= factor(i) * factor(i + 1);
    return result;
  }

  /// Eigenvalues below x: the negative terms of the Sturm sequence.
  int below(long double x) const {
    int negative = 0;
    long double q = 1;
    for (int i = 0; i < order(); ++i) {
      if (d[i] == 0 && m[i] == 0) continue;  // any number goes with it
      long double const coupling = i > 0 ? e[i - 1] : 0;
      q = d[i] - x * m[i] - (coupling != 0 ? coupling * coupling / q : 0);
      if (q == 0) q = 1e-4000L;
      if (q < 0) ++negative;
    }
    return negative;
  }
  /// The eigenvalue of number k, from 0, of a positive semidefinite pencil.
  long double value(int k) const {
    long double low = 0, high = 1;
    if (below(1e-4000L) > k) return 0;
    while (below(high) <= k) high *= 16;
    while (low == 0 && high > 1e-4000L) (below(high / 16) > k ? high : low) = high / 16;
    for (int step = 0; step < 80; ++step) {
      long double const middle = (low + high) / 2;
      (below(middle) > k ? high : low) = middle;
    }
    return low;
  }

  template <class Exec>
  CrsMatrix<double, Exec> matrix(std::vector<double> const& diagonal,
                                 std::vector<double> const& beside) const {
    std::vector<double> values;
    std::vector<int> columns, offsets{0};
    for (int i = 0; i < order(); ++i) {
      auto const add = [&](int j, double value) {
        if (value != 0) columns.push_back(j), values.push_back(value);
      };
      if (i > 0 && !beside.empty()) add(i - 1, beside[i - 1]);
      add(i, diagonal[i]);
      if (i + 1 < order() && !beside.empty()) add(i + 1, beside[i]);
      offsets.push_back(static_cast<int>(columns.size()));
    }
    return CrsMatrix<double, Exec>("test", order(), order(), static_cast<int>(values.size()),
                                   values.data(), offsets.data(), columns.data());
  }

  /// Solved by the library's own operators, which know their entries.
  template <class Exec>
  LobpcgReport<double> solve(LobpcgOptions<double, Exec> options, bool pencil,
                             std::vector<double>* first = nullptr) const {
    Exec const exec;
    auto const A = matrix<Exec>(d, e), M = matrix<Exec>(m, {});
    auto const a = matrix_operator(exec, A), b = matrix_operator(exec, M);
    auto const t = jacobi(exec, A);
    options.preconditioner = &t;
    auto const X = block_for<double, Exec>(order(), options.wanted);
    auto const report = pencil ? lobpcg(exec, a, b, X, options) : lobpcg(exec, a, X, options);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
    for (int i = 0; first && i < order(); ++i) first->push_back(host(i, 0));
    return report;
  }

  /// Every claim holds, for the eigenvalue of that number. Returns how many pairs are done.
  int expect_claims(LobpcgReport<double> const& report, std::string const& name) const {
    int done = 0;
    for (std::size_t j = 0; j < report.eigenvalues.size(); ++j) {
      auto const found = report.pair_status[j];
      if (!is_done(found)) continue;
      ++done;
      long double const exact = value(static_cast<int>(j)), theta = report.eigenvalues[j];
      long double const error = std::abs(theta - exact), bound = report.error_bounds[j];
      long double const last_bit = std::abs(theta) * 0x1p-53L;
      EXPECT_LE(error, bound * 1.0000001L + last_bit) << name << ", pair " << j << ": " << theta;
      if (found == Status::converged) {
        EXPECT_LE(error, 1e-4L * exact) << name << ", pair " << j << ": " << theta;
      } else {
        EXPECT_LE(exact, bound * 1.0000001L) << name << ", pair " << j << ": " << theta;
        EXPECT_LE(std::abs(theta), bound * 1.0000001L) << name << ", pair " << j;
      }
      if (report.certificate.gap_radius.empty()) continue;
      EXPECT_LE(error, report.certificate.gap_radius[j] * 1.0000001L + last_bit)
          << name << ", pair " << j << ": " << theta;
    }
    return done;
  }
};

template <class Exec>
LobpcgOptions<double, Exec> asking(int wanted, SolvePath path = SolvePath::automatic) {
  LobpcgOptions<double, Exec> options;
  options.wanted = wanted;
  options.path = path;
  options.certify = true;
  return options;
}

TYPED_TEST(Bounds, OfGradedMatricesLeaveTheDigitsThatTheirEntriesDetermine) {
  using Exec = typename TypeParam::Exec;
  std::vector<std::vector<int>> const gradings{
      {6, -9, 2},  {4, -7, -4, 0, 3},       {5, -5, -2, 2, -6, 1}, {-10, 0, 10},
      {20, -3, 7}, {-18, 14, 2, -9, 20, 1}, {37, -37, 5, -20, 11}};
  for (auto const& exponents : gradings) {
    int const n = static_cast<int>(exponents.size());
    auto const T = Tridiagonal::second_difference(n).graded(exponents);
    for (bool const pencil : {false, true})
      for (int wanted = 1; wanted <= n; ++wanted) {
        auto const report = T.template solve<Exec>(asking<Exec>(wanted), pencil);
        EXPECT_EQ(T.expect_claims(report, "order " + std::to_string(n)), wanted);
        EXPECT_EQ(report.trouble, "");
      }
  }
}

TYPED_TEST(Bounds, MissNoPairOfTwoScales) {
  using Exec = typename TypeParam::Exec;
  for (int const n : {8, 80})
    for (double const scale : {1e-8, 1e-16, 1e-18, 1e-24})
      for (SolvePath const path : {SolvePath::automatic, SolvePath::iterative}) {
        auto T = Tridiagonal::second_difference(n);
        int const small = n == 8 ? 7 : 40;
        for (int i = 0; i < small; ++i) T.d[i] *= scale, T.e[i] *= scale;
        T.e[small - 1] = 0;
        int const wanted = n == 8 ? 1 : 3;
        auto const report = T.template solve<Exec>(asking<Exec>(wanted, path), false);
        int const done = T.expect_claims(report, "scale " + std::to_string(scale));
        if (path == SolvePath::automatic) {
          EXPECT_EQ(done, wanted) << n << ", " << scale;
        }
      }
}

TYPED_TEST(Bounds, CountTheRoundingOfTheValue) {
  using Exec = typename TypeParam::Exec;
  auto T = Tridiagonal::second_difference(3);
  T.d.assign(3, 2.1);
  EXPECT_EQ(T.expect_claims(T.template solve<Exec>(asking<Exec>(3), false), "three rows"), 3);
  // ones beside a wild diagonal, by iteration
  int const n = 99;
  auto A = Tridiagonal::second_difference(n);
  for (int k = 0; k < n; ++k)
    A.d[k] = 40 + std::round(30e6 * std::sin(3.0 * (k + 1) * (k + 1))) / 1e6;
  for (double const tolerance : {1e-8, 1e-14}) {
    auto options = asking<Exec>(12, SolvePath::iterative);
    options.criterion = Criterion::relative;
    options.tolerance = tolerance;
    EXPECT_EQ(A.expect_claims(A.template solve<Exec>(options, false), "wild diagonal"), 12);
  }
}

TYPED_TEST(Bounds, OfPenaltiesAndMassesNearZeroComeByIteration) {
  using Exec = typename TypeParam::Exec;
  for (double const penalty : {1e8, 1e12, 1e14})
    for (bool const pencil : {false, true}) {
      auto T = Tridiagonal::second_difference(200);
      T.d[0] += penalty, T.d[120] += penalty;
      auto const report = T.template solve<Exec>(asking<Exec>(4, SolvePath::iterative), pencil);
      EXPECT_EQ(T.expect_claims(report, "penalty " + std::to_string(penalty)), 4);
      EXPECT_EQ(report.path, "iterative");
    }
  for (double const mass : {1e-8, 1e-30, 2.2250738585072014e-308}) {
    auto T = Tridiagonal::second_difference(200);
    T.m[0] = T.m[77] = T.m[199] = mass;
    auto const report = T.template solve<Exec>(asking<Exec>(5, SolvePath::iterative), true);
    EXPECT_EQ(T.expect_claims(report, "mass " + std::to_string(mass)), 5);
    EXPECT_EQ(report.path, "iterative");
  }
}

TYPED_TEST(Bounds, UnknownsThatNoMatrixUsesLeaveTheProblem) {
  using Exec = typename TypeParam::Exec;
  for (int const n : {40, 300})
    for (SolvePath const path : {SolvePath::automatic, SolvePath::iterative, SolvePath::dense}) {
      auto T = Tridiagonal::second_difference(n);
      for (int const i : {0, 7, 8, n - 5}) {
        T.d[i] = T.m[i] = T.e[i] = 0;
        if (i > 0) T.e[i - 1] = 0;
      }
      std::vector<double> x;
      auto const report = T.template solve<Exec>(asking<Exec>(3, path), true, &x);
      EXPECT_EQ(T.expect_claims(report, "order " + std::to_string(n)), 3);
      EXPECT_EQ(report.unused_rows, 4);
      for (int const i : {0, 7, 8, n - 5}) EXPECT_EQ(x[i], 0) << i;
    }
}

TYPED_TEST(Bounds, ClustersOfZerosBeyondTheListAreZeros) {
  using Exec = typename TypeParam::Exec;
  // forty paths that do not touch
  int const paths = 40, length = 5, n = paths * length;
  auto T = Tridiagonal::second_difference(n);
  for (int i = 0; i < n; ++i) {
    bool const ends = i % length == length - 1, begins = i % length == 0;
    T.d[i] = (ends ? 0 : 1) + (begins ? 0 : 1);
    if (ends && i + 1 < n) T.e[i] = 0;
  }
  for (SolvePath const path : {SolvePath::dense, SolvePath::iterative}) {
    auto const report = T.template solve<Exec>(asking<Exec>(10, path), false);
    EXPECT_EQ(T.expect_claims(report, "paths"), 10);
    for (Status const pair : report.pair_status) EXPECT_EQ(pair, Status::zero_eigenvalue);
  }
}

/// Kinetic energy and overlap of Gaussians, whose overlap is singular to working precision.
TYPED_TEST(Bounds, OfAMassThatIsSingularToWorkingPrecisionCallNothingZero) {
  using Exec = typename TypeParam::Exec;
  for (double const spacing : {0.1, 0.2, 0.4}) {
    int const n = 16;
    TestMatrix<double> H(n), S(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double const distance = (i - j) * spacing, overlap = std::exp(-distance * distance / 4);
        S.add(i, j, overlap), H.add(i, j, overlap * (0.5 - distance * distance / 4));
      }
    auto const solved = solve<double, Exec>(H, &S, 3, [](auto& options, auto&) {
      options.path = SolvePath::dense;
      options.criterion = Criterion::digits;
    });
    for (int j = 0; j < 3; ++j)
      EXPECT_NE(solved.report.pair_status[j], Status::zero_eigenvalue) << spacing << ", " << j;
    if (!(solved.report.orthogonality_loss <= 1e-7)) {
      EXPECT_NE(solved.report.status, Status::converged) << spacing;
      EXPECT_NE(solved.report.trouble, "") << spacing;
    }
  }
}

TEST(BoundsInOrder, HoldForTheNumberWhereIntervalsOverlap) {
  double const none = std::numeric_limits<double>::infinity();
  std::vector<double> const values{0, 1, 2, 2.5, 9};
  std::vector<double> bounds{3, 0.25, 0.25, none, 0.5};
  blockspan::eigen::widen_by_order(values, bounds);
  // lower ends -3, 0.75, 1.75, 8.5; upper ends 1.25, 2.25, 3, 9.5
  EXPECT_EQ(bounds, (std::vector<double>{3, 1.25, 1, none, 0.5}));
}

}  // namespace
}  // namespace blockspan::test
