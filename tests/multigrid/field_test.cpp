// Matrices as they come from the field: what codes leave in them must not cost more than a few
// iterations.
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/sparse/host/host_csr.hpp>

#include "multigrid/problems.hpp"
#include "operators/apply.hpp"
#include "spmm/battery.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class MultigridField : public ::testing::Test {
 protected:
  /// The matrix of a spec with entry(i, j, value) for its entries; NaN: left out.
  CrsMatrix<double, Exec> changed(std::string const& spec,
                                  std::function<double(int, int, double)> const& entry) const {
    auto const host = blockspan::sparse::to_host(generate<double>(exec, spec));
    HostMatrix<double> A{spec, host.rows, host.rows, {0}, {}, {}};
    for (int i = 0; i < host.rows; ++i) {
      for (int k = host.offsets(i); k < host.offsets(i + 1); ++k) {
        double const value = entry(i, host.indices(k), host.values(k));
        if (!std::isnan(value)) A.add(host.indices(k), value);
      }
      A.end_row();
    }
    return to_device(exec, A);
  }

  /// Diffusion on an N x N grid, fixed all around, of the coefficient that each point has.
  CrsMatrix<double, Exec> diffusion(int N, std::function<double(int, int)> const& of_point) const {
    auto const at = [&](int i) { return of_point(i % N, i / N); };
    auto const between = [&](int i, int j) { return 2 / (1 / at(i) + 1 / at(j)); };
    return changed("laplace5:" + std::to_string(N), [&](int i, int j, double) {
      if (i != j) return -between(i, j);
      int const x = i % N, y = i / N;
      return (x > 0 ? between(i, i - 1) : 2 * at(i)) + (x < N - 1 ? between(i, i + 1) : 2 * at(i)) +
             (y > 0 ? between(i, i - N) : 2 * at(i)) + (y < N - 1 ? between(i, i + N) : 2 * at(i));
    });
  }

  /// Iterations, at most `most`, and a status that is good.
  void expect_quick(CrsMatrix<double, Exec> const& A, int most, std::string const& what,
                    bool singular = false,
                    MultigridOptions<double, Exec> const& options = {}) const {
    auto const M = multigrid(exec, A, options);
    int const count = iterations<double>(exec, A, &M, singular);
    EXPECT_GT(count, 0) << what << "\n" << M.report().table();
    EXPECT_LE(count, most) << what << "\n" << M.report().table();
    EXPECT_TRUE(M.report().usable()) << what << ": " << M.report().message;
  }

  Exec exec;
  double const nothing = std::nan("");
};
TYPED_TEST_SUITE(MultigridField, Backends, ConfigNames);

/// 56 iterations where the matrix that smooths prolongators just lacks what is left out.
TYPED_TEST(MultigridField, CheckerboardsOfCoefficients) {
  auto const cells = this->diffusion(
      120, [](int x, int y) { return (x * 7 / 120 + y * 7 / 120) % 2 == 0 ? 1.0 : 1e6; });
  this->expect_quick(cells, 16, "a checkerboard", false,
                     {.precision = MultigridPrecision::working});
}

TYPED_TEST(MultigridField, IdentityRowsOfDirichletConditions) {
  auto const on = [](int i) { return i % 3 == 0 && i % 22 < 11; };
  this->expect_quick(this->changed("laplace7:22",
                                   [&](int i, int j, double value) {
                                     if (!on(i) && !on(j)) return value;
                                     return i == j ? 1.0 : this->nothing;
                                   }),
                     10, "eliminated");
  this->expect_quick(this->changed("laplace7:22",
                                   [&](int i, int j, double value) {
                                     if (!on(i) && !on(j)) return value;
                                     return i == j ? 1.0 : 0.0;
                                   }),
                     10, "eliminated, with zeros stored");
}

TYPED_TEST(MultigridField, PenaltyRows) {
  for (double const penalty : {1e10, 1e30})
    this->expect_quick(this->changed("laplace7:22",
                                     [&](int i, int j, double value) {
                                       return i == j && i % 50 == 0 ? penalty : value;
                                     }),
                       12, std::to_string(penalty));
}

TYPED_TEST(MultigridField, EmptyRows) {
  auto const on = [](int i) { return i % 40 < 7; };
  this->expect_quick(this->changed("laplace7:22",
                                   [&](int i, int j, double value) {
                                     return on(i) || on(j) ? this->nothing : value;
                                   }),
                     12, "empty rows", true);
}

TYPED_TEST(MultigridField, RowsAndColumnsOfAnyScale) {
  auto const s = [](int i) { return std::pow(10.0, 3 * std::sin(0.7 * i * i)); };
  this->expect_quick(
      this->changed("laplace7:24", [&](int i, int j, double value) { return s(i) * s(j) * value; }),
      15, "six decades");
}

TYPED_TEST(MultigridField, JumpsOfTheCoefficient) {
  this->expect_quick(generate<double>(this->exec, std::string("jump7:24:100000000:width=4")), 20,
                     "1e8");
  this->expect_quick(generate<double>(this->exec, std::string("jump7:24:0.00000001:width=4")), 20,
                     "1e-8");
}

TYPED_TEST(MultigridField, VoidsAndStiffInclusions) {
  // a diffusion whose coefficient is 1e-6 in some cubes of a grid and 1e6 in others
  constexpr int N = 24;
  auto const coefficient = [](int i) {
    int const cube = i % N / 4 + 3 * (i / N % N / 4) + 5 * (i / (N * N) / 4);
    return cube % 7 == 0 ? 1e-6 : cube % 7 == 3 ? 1e6 : 1.0;
  };
  auto const tie = [&](int i, int j) { return 2 / (1 / coefficient(i) + 1 / coefficient(j)); };
  auto const diagonal = [&](int i) {
    double sum = 0;
    for (int const step : {1, N, N * N})
      for (int const side : {-1, 1}) {
        int const at = i / step % N + side;
        sum += at < 0 || at >= N ? coefficient(i) : tie(i, i + side * step);
      }
    return sum;
  };
  auto const A = this->changed(
      "laplace7:24", [&](int i, int j, double) { return i == j ? diagonal(i) : -tie(i, j); });
  this->expect_quick(A, 25, "voids and inclusions", false,
                     {.precision = MultigridPrecision::working});
  // twelve decades of the coefficient are more than a cycle in single precision resolves
  this->expect_quick(A, 28, "voids and inclusions, single");
}

TYPED_TEST(MultigridField, ManyComponents) {
  // rings of 3 to 42 vertices: each has a null vector of its own
  HostMatrix<double> A{"rings", 0, 0, {0}, {}, {}};
  for (int ring = 0; ring < 200; ++ring) {
    int const first = static_cast<int>(A.rows), count = 3 + ring % 40;
    for (int i = 0; i < count; ++i) {
      A.add(first + (i + count - 1) % count, -1.0);
      A.add(first + i, 2.0);
      A.add(first + (i + 1) % count, -1.0);
      A.end_row();
    }
    A.rows += count;
  }
  A.columns = A.rows;
  auto const matrix = to_device(this->exec, A);
  this->expect_quick(matrix, 15, "rings", true, {.coarse_rows = 300});
  EXPECT_EQ(multigrid(this->exec, matrix, {.coarse_rows = 300}).report().notes.size(), 0);
}

TYPED_TEST(MultigridField, TinyAndDenseMatrices) {
  for (int const n : {1, 2, 5, 60}) {
    HostMatrix<double> A{"dense", n, n, {0}, {}, {}};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) A.add(j, i == j ? n + 1.0 : std::sin(i * j) / 2);
      A.end_row();
    }
    auto const matrix = to_device(this->exec, A);
    this->expect_quick(matrix, 2, "one level of " + std::to_string(n));
    this->expect_quick(matrix, 12, "two levels of " + std::to_string(n), false, {.coarse_rows = 3});
  }
}

// M of I + 10^9 v v^H takes v to v / (1 + 10^9 |v|^2): rounded to single precision, an inverse has
// errors larger than that, and need not be definite.
TYPED_TEST(MultigridField, InversesOfIllConditionedMatricesAreNotRounded) {
  int const n = 27;
  auto const v = [](int i) { return std::sin(i + 1); };
  HostMatrix<double> A{"stiff", n, n, {0}, {}, {}};
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A.add(j, (i == j ? 1.0 : 0.0) + 1e9 * v(i) * v(j));
    A.end_row();
    squares += v(i) * v(i);
  }
  auto const M = multigrid(this->exec, to_device(this->exec, A), {});
  Block<double, TypeParam> const X("X", n, 1), Y("Y", n, 1);
  auto const x = Kokkos::create_mirror_view(X);
  for (int i = 0; i < n; ++i) x(i, 0) = v(i);
  Kokkos::deep_copy(X, x);
  M.apply(this->exec, X, Y);
  this->exec.fence();
  auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
  double const value = 1 / (1 + 1e9 * squares);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(y(i, 0), value * v(i), 1e-3 * value);
}

TYPED_TEST(MultigridField, FloatingBodies) {
  this->expect_quick(generate<double>(this->exec, std::string("elasticity:10:free")), 12, "free",
                     true, {.coordinates = brick_nodes<double>(this->exec, 10, false)});
}

TYPED_TEST(MultigridField, UnknownsOfUnequalScaleAtANodeChangeNothing) {
  double const unit[] = {1, 1024, 1.0 / 64};
  auto const nodes = brick_nodes<double>(this->exec, 8);
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), nodes);
  // S A S with S^-1 B leads to S^-1 M^-1 S^-1
  auto const applied_in = [&](bool scaled, HostBlock<double> v) {
    auto const s = [&](std::int64_t i) { return scaled ? unit[i % 3] : 1.0; };
    auto const A = this->changed("elasticity:8",
                                 [&](int i, int j, double value) { return s(i) * s(j) * value; });
    HostBlock<double> B(A.numRows(), 6);
    for (std::int64_t i = 0; i < B.rows() / 3; ++i)
      for (int c = 0; c < 3; ++c) {
        int const u = (c + 1) % 3, w = (c + 2) % 3;
        B(3 * i + c, c) = 1 / s(c);
        B(3 * i + u, 3 + c) = -x(i, w) / s(u);
        B(3 * i + w, 3 + c) = x(i, u) / s(w);
      }
    auto const M = multigrid(this->exec, A,
                             {.near_null = block<double>(this->exec, B),
                              .block_size = 3,
                              .precision = MultigridPrecision::working});
    for (std::int64_t i = 0; i < v.rows(); ++i) v(i, 0) *= s(i);
    auto y = applied(this->exec, M, v);
    for (std::int64_t i = 0; i < v.rows(); ++i) y(i, 0) *= s(i);
    return y;
  };
  auto const v = random_block<double>(3 * 7 * 64, 1, 3);
  auto const plain = applied_in(false, v), scaled = applied_in(true, v);
  double largest = 0, difference = 0;
  for (std::int64_t i = 0; i < v.rows(); ++i) {
    largest = std::max(largest, std::abs(plain(i, 0)));
    difference = std::max(difference, std::abs(plain(i, 0) - scaled(i, 0)));
  }
  EXPECT_LE(difference, 1e-10 * largest);
}

TYPED_TEST(MultigridField, HubsDoNotFillCoarseLevels) {
  // a grid, and ten vertices that know every twentieth one of it
  int const n = 22 * 22 * 22;
  auto const grid =
      blockspan::sparse::to_host(generate<double>(this->exec, std::string("laplace7:22")));
  HostMatrix<double> A{"hubs", n + 10, n + 10, {0}, {}, {}};
  auto const knows = [](int hub, int i) { return i % 20 == hub; };
  for (int i = 0; i < n; ++i) {
    double extra = 0;
    for (int hub = 0; hub < 10; ++hub) extra += knows(hub, i);
    for (int k = grid.offsets(i); k < grid.offsets(i + 1); ++k)
      A.add(grid.indices(k), grid.values(k) + (grid.indices(k) == i ? extra : 0));
    for (int hub = 0; hub < 10; ++hub)
      if (knows(hub, i)) A.add(n + hub, -1.0);
    A.end_row();
  }
  for (int hub = 0; hub < 10; ++hub) {
    double degree = 0;
    for (int i = 0; i < n; ++i)
      if (knows(hub, i)) A.add(i, -1.0), degree += 1;
    A.add(n + hub, degree);
    A.end_row();
  }
  auto const matrix = to_device(this->exec, A);
  this->expect_quick(matrix, 25, "hubs");
  EXPECT_LE(multigrid(this->exec, matrix).report().complexity, 3);
}

TYPED_TEST(MultigridField, AdaptiveVectorsStandInForRigidBodies) {
  auto const A = generate<double>(this->exec, std::string("elasticity:10"));
  this->expect_quick(A, 13, "adaptive", false,
                     {.block_size = 3, .adaptive = 6, .coarse_rows = 300});
  this->expect_quick(A, 26, "components", false, {.block_size = 3, .coarse_rows = 300});
}

/// Squares of 5 x 5 points with the coefficients 1 and `contrast`, harmonic means between them.
TYPED_TEST(MultigridField, ACheckerboardOfContrastsIsPositiveDefinite) {
  constexpr int n = 40;
  for (double const contrast : {1e4, 1e8}) {
    auto const c = [&](int x, int y) { return (x / 5 + y / 5) % 2 == 0 ? 1.0 : contrast; };
    auto const face = [&](int x, int y, int u, int v) {
      if (u < 0 || v < 0 || u >= n || v >= n) return c(x, y);
      return 2 * c(x, y) * c(u, v) / (c(x, y) + c(u, v));
    };
    auto const A = this->changed("laplace5:40", [&](int i, int j, double) {
      int const x = i % n, y = i / n;
      if (i != j) return -face(x, y, j % n, j / n);
      return face(x, y, x - 1, y) + face(x, y, x + 1, y) + face(x, y, x, y - 1) +
             face(x, y, x, y + 1);
    });
    auto M = multigrid(this->exec, A);
    ASSERT_TRUE(M.report().usable()) << M.report().message;
    auto const op = matrix_operator(this->exec, A);
    Block<double, TypeParam> const B("B", n * n, 1), X("X", n * n, 1);
    fill_random(this->exec, B, 3);
    CgOptions<double, TypeParam> options;
    options.method = CgMethod::pseudo_block;
    options.preconditioner = &M;
    options.tolerance = 1e-5;
    auto const report = solve_spd(this->exec, op, B, X, options);
    // a cycle in single precision loses such a contrast: it is not definite, or hardly helps
    if (contrast > 1e7) {
      EXPECT_FALSE(M.report().single);
    }
    EXPECT_TRUE(report.converged()) << contrast << ": " << to_string(report.status);
    EXPECT_LE(report.iterations, 30) << contrast;
    bool const single = M.report().single;
    EXPECT_EQ(M.use_working_precision(this->exec), single) << contrast;
    EXPECT_FALSE(M.report().single);
    EXPECT_LE(iterations<double>(this->exec, A, &M), 30) << contrast;
  }
}

TYPED_TEST(MultigridField, ALargeSingularLevelIsSmoothed) {
  constexpr int leaves = 1999;
  HostMatrix<double> star{"star", leaves + 1, leaves + 1, {0}, {}, {}};
  star.add(0, leaves);
  for (int i = 1; i <= leaves; ++i) star.add(i, -1);
  star.end_row();
  for (int i = 1; i <= leaves; ++i) {
    star.add(0, -1), star.add(i, 1);
    star.end_row();
  }
  auto const A = to_device(this->exec, star);
  auto const M = multigrid(this->exec, A);
  EXPECT_FALSE(M.report().exact_last);
  EXPECT_TRUE(M.report().usable()) << M.report().message;
  int const count = iterations<double>(this->exec, A, &M, true);
  EXPECT_GT(count, 0);
  EXPECT_LE(count, 5);
}

/// Every coarse column is a null vector: eigenvalues of the whole, half a second for 1,300 rows,
/// would say nothing that the smoother does not know.
TYPED_TEST(MultigridField, StarsAndNothingElse) {
  for (int const size : {30, 1300}) {
    HostMatrix<double> A{"stars", 1300 / size * size, 1300 / size * size, {0}, {}, {}};
    for (int i = 0; i < A.rows; ++i) {
      int const hub = i / size * size;
      for (int j = hub + 1; i == hub && j < hub + size; ++j) A.add(j, -1);
      if (i != hub) A.add(hub, -1);
      A.add(i, i == hub ? size - 1 : 1);
      A.end_row();
    }
    auto const matrix = to_device(this->exec, A);
    auto const M = multigrid(this->exec, matrix);
    EXPECT_FALSE(M.report().exact_last) << M.report().table();
    EXPECT_EQ(M.report().null_vectors, 0) << "no eigenvalue was computed";
    EXPECT_TRUE(M.report().usable()) << M.report().message;
    int const count = iterations<double>(this->exec, matrix, &M, true);
    EXPECT_GT(count, 0);
    EXPECT_LE(count, 4);
  }
}

}  // namespace
}  // namespace blockspan::test
