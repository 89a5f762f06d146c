// Strong neighbours by how pulses spread, and what a setup gains by them where entries say little.
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/multigrid/setup/strength.hpp>
#include <blockspan/sparse/host/host_csr.hpp>

#include "multigrid/dense.hpp"
#include "multigrid/problems.hpp"
#include "spmm/battery.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

/// A point of an N x N grid is tied to those up to two places away as stencil(dx, dy) says.
HostMatrix<double> on_grid(int N, std::function<double(int, int)> const& stencil) {
  HostMatrix<double> A{"grid", N * N, N * N, {0}, {}, {}};
  for (int y = 0; y < N; ++y)
    for (int x = 0; x < N; ++x) {
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
          bool const inside = x + dx >= 0 && x + dx < N && y + dy >= 0 && y + dy < N;
          double const value = inside ? stencil(dx, dy) : 0;
          if (value != 0) A.add((y + dy) * N + x + dx, value);
        }
      A.end_row();
    }
  return A;
}

/// -div K grad by bilinear elements: K stretches by 1 along `degrees` and by 1e-3 across.
HostMatrix<double> rotated_anisotropy(int N, double degrees) {
  double const c = std::cos(degrees * M_PI / 180), s = std::sin(degrees * M_PI / 180);
  double const xx = c * c + 1e-3 * s * s, yy = s * s + 1e-3 * c * c, xy = (1 - 1e-3) * c * s;
  return on_grid(N, [=](int dx, int dy) {
    if (std::abs(dx) > 1 || std::abs(dy) > 1) return 0.0;
    if (dx == 0 && dy == 0) return 4 * (xx + yy) / 3;
    if (dy == 0) return (yy - 2 * xx) / 3;
    if (dx == 0) return (xx - 2 * yy) / 3;
    return -(xx + yy) / 6 - dx * dy * xy / 2;
  });
}

/// The square of the five-point Laplacian: a plate of thirteen points.
HostMatrix<double> plate(int N) {
  auto A = on_grid(N, [](int dx, int dy) {
    int const away = std::abs(dx) + std::abs(dy);
    if (away > 2) return 0.0;
    return away == 0 ? 20.0 : away == 1 ? -8.0 : dx == 0 || dy == 0 ? 1.0 : 2.0;
  });
  for (std::int64_t i = 0; i < A.rows; ++i) {
    std::int64_t const x = i % N, y = i / N;
    int const edges = (x == 0) + (x == N - 1) + (y == 0) + (y == N - 1);
    for (auto k = A.offsets[i]; k < A.offsets[i + 1]; ++k)
      if (A.indices[k] == i) A.values[k] -= edges;
  }
  return A;
}

/// Five points, coefficients between exp(-8) and exp(8) without order, fixed all around.
HostMatrix<double> diffusion_at_random(int N) {
  auto const at = [](std::int64_t i) {
    double const turns = 43758.5453 * std::abs(std::sin(12.9898 * static_cast<double>(i)));
    return std::exp(8 * (2 * (turns - std::floor(turns)) - 1));
  };
  auto A = on_grid(N, [](int dx, int dy) { return std::abs(dx) + std::abs(dy) > 1 ? 0.0 : 1.0; });
  for (std::int64_t i = 0; i < A.rows; ++i) {
    auto const first = A.offsets[i], last = A.offsets[i + 1];
    double sum = 2 * static_cast<double>(5 - (last - first)) * at(i);
    for (auto k = first; k < last; ++k)
      if (A.indices[k] != i) sum -= A.values[k] = -2 / (1 / at(i) + 1 / at(A.indices[k]));
    for (auto k = first; k < last; ++k)
      if (A.indices[k] == i) A.values[k] = sum;
  }
  return A;
}

template <class Exec>
class MultigridPulses : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridPulses, Backends, ConfigNames);

TYPED_TEST(MultigridPulses, AreTheSquareOfAStepAtThePlacesOfTheMatrix) {
  TypeParam const exec;
  auto const A = to_device(exec, rotated_anisotropy(7, 20));
  auto const dense = dense_of(A);
  auto const n = dense.rows();
  double const upper = 2.5;
  HostBlock<double> G(n, n), B(n, 1);
  Kokkos::View<double*, TypeParam> const weights("weights", static_cast<std::size_t>(n));
  auto const w = Kokkos::create_mirror_view(weights);
  for (std::int64_t i = 0; i < n; ++i) w(i) = 1 / dense(i, i), B(i, 0) = i % 3 == 0 ? -2 : 0.5;
  Kokkos::deep_copy(weights, w);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      G(i, j) = (i == j) - dense(i, j) * std::sqrt(w(i) * w(j)) / upper;
  auto const H = times(G, G);
  blockspan::support::Arena<TypeParam> arena("Blockspan::test");
  Block<double, TypeParam> const near_null("B", static_cast<std::size_t>(n), 1);
  auto const b = Kokkos::create_mirror_view(near_null);
  for (std::int64_t i = 0; i < n; ++i) b(i, 0) = B(i, 0);
  Kokkos::deep_copy(near_null, b);
  auto const graph = blockspan::levels::pulse_graph<TypeParam, double>(
      exec, arena, blockspan::sparse::matrix_ref<TypeParam>(A), weights.data(), upper, near_null);
  auto const strength = dense_of(
      blockspan::CrsMatrix<double, TypeParam>("pulses", A.numRows(), A.numCols(), A.nnz(),
                                              graph.weights, A.graph.row_map, A.graph.entries));
  int strong = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double const c = H(i, j) / std::sqrt(H(i, i) * H(j, j)) * (B(i, 0) * B(j, 0) > 0 ? 1 : -1);
      bool const counts = i != j && dense(i, j) != 0 && c > 1e-4;
      EXPECT_NEAR(strength(i, j), counts ? c / (1 - c) : 0, 1e-10) << i << ", " << j;
      EXPECT_EQ(strength(i, j), strength(j, i));
      strong += counts;
    }
  EXPECT_GT(strong, n);
}

/// 43, 45 and 280 iterations with the neighbours that entries show.
TYPED_TEST(MultigridPulses, ServeAnisotropyAcrossTheGridAndPlates) {
  TypeParam const exec;
  for (auto const& [host, most] : {std::pair{rotated_anisotropy(150, 30), 20},
                                   {rotated_anisotropy(150, 45), 20},
                                   {plate(100), 75}}) {
    auto const A = to_device(exec, host);
    auto const M = multigrid(exec, A);
    int const count = iterations<double>(exec, A, &M);
    EXPECT_GT(count, 0);
    EXPECT_LE(count, most) << M.report().table();
    ASSERT_FALSE(M.report().notes.empty());
    EXPECT_NE(M.report().notes[0].find("by pulses"), std::string::npos) << M.report().notes[0];
    auto const asked = multigrid(exec, A, {.pulses = true});
    EXPECT_EQ(iterations<double>(exec, A, &asked), count) << "what was tried is what is asked for";
  }
}

/// Where the other hierarchy is no better the first one stays, whole.
TYPED_TEST(MultigridPulses, AreGivenUpWhereTheyDoNotHelp) {
  TypeParam const exec;
  auto const A = to_device(exec, diffusion_at_random(120));
  auto const M = multigrid(exec, A, {.precision = MultigridPrecision::working});
  auto const plain = multigrid(exec, A, {.precision = MultigridPrecision::working, .probe = false});
  auto const x = random_block<double>(A.numRows(), 2, 1);
  ASSERT_EQ(M.report().status, MultigridStatus::weak);
  EXPECT_TRUE(M.report().notes.empty());
  EXPECT_EQ(iterations<double>(exec, A, &M), iterations<double>(exec, A, &plain));
}

}  // namespace
}  // namespace blockspan::test
