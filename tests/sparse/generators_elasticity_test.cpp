#include <array>
#include <cmath>

#include <blockspan/support/lapack/lapack.hpp>

#include "generators_support.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
struct ElasticityGenerators : ::testing::Test {};
TYPED_TEST_SUITE(ElasticityGenerators, Backends, ConfigNames);

using Real = long double;
using Dense = std::vector<Real>;

constexpr Real nu = 0.3L;
constexpr Real lambda = nu / ((1 + nu) * (1 - 2 * nu));
constexpr Real mu = 1 / (2 * (1 + nu));

/// Value and gradient of the eight trilinear functions at a point of the brick of edge h.
struct Shape {
  Real value[8];
  Real gradient[8][3];
};
Shape shape_at(Real const (&xi)[3], Real h) {
  Shape s{};
  for (int a = 0; a < 8; ++a) {
    Real hat[3], slope[3];
    for (int k = 0; k < 3; ++k) {
      bool const upper = (a >> k) & 1;
      hat[k] = upper ? xi[k] : 1 - xi[k];
      slope[k] = (upper ? 1 : -1) / h;
    }
    s.value[a] = hat[0] * hat[1] * hat[2];
    s.gradient[a][0] = slope[0] * hat[1] * hat[2];
    s.gradient[a][1] = hat[0] * slope[1] * hat[2];
    s.gradient[a][2] = hat[0] * hat[1] * slope[2];
  }
  return s;
}

/// The 24 x 24 matrix of one brick by 2 x 2 x 2 Gauss quadrature.
Dense element(bool mass, Real h) {
  Dense e(24 * 24, 0);
  Real const offset = 0.5L / std::sqrt(3.0L);
  for (int q = 0; q < 8; ++q) {
    Real xi[3];
    for (int k = 0; k < 3; ++k) xi[k] = 0.5L + ((q >> k) & 1 ? offset : -offset);
    Shape const s = shape_at(xi, h);
    Real const weight = h * h * h / 8;
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            auto const* g = s.gradient[a];
            auto const* f = s.gradient[b];
            Real const stiffness = lambda * g[i] * f[j] + mu * g[j] * f[i] +
                                   (i == j ? mu * (g[0] * f[0] + g[1] * f[1] + g[2] * f[2]) : 0);
            e[(3 * a + i) * 24 + 3 * b + j] +=
                weight * (mass ? (i == j ? s.value[a] * s.value[b] : 0) : stiffness);
          }
  }
  return e;
}

/// Element by element, every node free.
Dense assembled(bool mass, int n) {
  std::size_t const size = std::size_t(3 * n * n * n);
  Dense A(size * size, 0);
  Dense const e = element(mass, Real(1) / (n - 1));
  for (int z = 0; z + 1 < n; ++z)
    for (int y = 0; y + 1 < n; ++y)
      for (int x = 0; x + 1 < n; ++x)
        for (int r = 0; r < 24; ++r)
          for (int c = 0; c < 24; ++c) {
            auto const unknown = [&](int local) {
              int const a = local / 3;
              int const node = ((z + (a >> 2)) * n + y + ((a >> 1) & 1)) * n + x + (a & 1);
              return std::size_t(3 * node + local % 3);
            };
            A[unknown(r) * size + unknown(c)] += e[r * 24 + c];
          }
  return A;
}

/// The unknowns of the clamped body among those of the free one.
std::vector<std::size_t> kept(int n, bool clamped) {
  std::vector<std::size_t> unknowns;
  for (int node = 0; node < n * n * n; ++node)
    for (int i = 0; i < 3; ++i)
      if (!clamped || node % n > 0) unknowns.push_back(std::size_t(3 * node + i));
  return unknowns;
}

TYPED_TEST(ElasticityGenerators, GiveWhatGaussQuadratureAndElementAssemblyGive) {
  for (int const n : {2, 3, 5})
    for (bool const mass : {false, true})
      for (bool const clamped : {false, true}) {
        std::string const spec = std::string(mass ? "elasticity-mass:" : "elasticity:") +
                                 std::to_string(n) + (clamped ? "" : ":free");
        auto const A = generated<TypeParam>(spec);
        auto const full = dense(A);
        Dense const reference = assembled(mass, n);
        auto const unknowns = kept(n, clamped);
        std::size_t const size = std::size_t(3 * n * n * n), m = unknowns.size();
        ASSERT_EQ(std::size_t(A.rows), m) << spec;
        Real const scale = mass ? Real(1) / (n - 1) / (n - 1) / (n - 1) : Real(1) / (n - 1);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < m; ++j) {
            Real const expected = reference[unknowns[i] * size + unknowns[j]];
            // One rounding of ours, and the reference's own in extended precision.
            ASSERT_NEAR(Real(full[i * m + j]), expected,
                        unit_roundoff<double> * std::abs(expected) + 1e-17L * scale)
                << spec << ' ' << i << ' ' << j;
          }
      }
}

/// Node coordinates of unknown 3 * node + i of the free body.
std::array<Real, 3> position(std::int64_t node, int n) {
  Real const h = Real(1) / (n - 1);
  return {h * Real(node % n), h * Real(node / n % n), h * Real(node / n / n)};
}

/// u = offset + gradient * x at the nodes.
std::vector<Real> linear_field(int n, std::array<Real, 3> const& offset,
                               Real const (&gradient)[3][3]) {
  std::vector<Real> u;
  for (std::int64_t node = 0; node < std::int64_t(n) * n * n; ++node) {
    auto const x = position(node, n);
    for (std::size_t i = 0; i < 3; ++i)
      u.push_back(offset[i] + gradient[i][0] * x[0] + gradient[i][1] * x[1] +
                  gradient[i][2] * x[2]);
  }
  return u;
}

struct Product {
  std::vector<Real> value;
  std::vector<Real> magnitude;  ///< |A| |u|
};
Product product(HostMatrix<double> const& A, std::vector<Real> const& u) {
  Product result;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    Real value = 0, magnitude = 0;
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      Real const term = Real(A.values[k]) * u[std::size_t(A.entries[k])];
      value += term;
      magnitude += std::abs(term);
    }
    result.value.push_back(value);
    result.magnitude.push_back(magnitude);
  }
  return result;
}

TYPED_TEST(ElasticityGenerators, RigidMotionsOfTheFreeBodyCostNothing) {
  int const n = 6;
  auto const A = generated<TypeParam>("elasticity:6:free");
  for (int mode = 0; mode < 6; ++mode) {
    std::array<Real, 3> offset{0, 0, 0};
    Real rotation[3][3] = {};
    if (mode < 3) offset[std::size_t(mode)] = 1;
    if (mode >= 3) {
      rotation[(mode + 1) % 3][(mode + 2) % 3] = 1;
      rotation[(mode + 2) % 3][(mode + 1) % 3] = -1;
    }
    auto const r = product(A, linear_field(n, offset, rotation));
    for (std::size_t i = 0; i < r.value.size(); ++i)
      // Each entry is exact but for one rounding; and 100 roundings in extended precision.
      ASSERT_LE(std::abs(r.value[i]), (unit_roundoff<double> * 1.1L) * r.magnitude[i])
          << mode << ' ' << i;
  }
}

TYPED_TEST(ElasticityGenerators, UniformStrainHasTheExactEnergy) {
  int const n = 5;
  auto const A = generated<TypeParam>("elasticity:5:free");
  Real const gradient[3][3] = {{0.3L, 0.7L, -0.2L}, {0.1L, -0.5L, 0.4L}, {0.6L, 0.2L, 0.9L}};
  Real trace = 0, square = 0;
  for (int i = 0; i < 3; ++i) {
    trace += gradient[i][i];
    for (int j = 0; j < 3; ++j) {
      Real const strain = (gradient[i][j] + gradient[j][i]) / 2;
      square += strain * strain;
    }
  }
  Real const exact = (lambda * trace * trace + 2 * mu * square) / 2;
  auto const u = linear_field(n, {0.5L, -1, 2}, gradient);
  auto const r = product(A, u);
  Real energy = 0, magnitude = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    energy += u[i] * r.value[i] / 2;
    magnitude += std::abs(u[i]) * r.magnitude[i] / 2;
  }
  EXPECT_NEAR(energy, exact, 1.1L * unit_roundoff<double> * magnitude);
}

TYPED_TEST(ElasticityGenerators, UniformStrainIsInEquilibriumInside) {
  int const n = 5;
  auto const A = generated<TypeParam>("elasticity:5:free");
  Real const gradient[3][3] = {{0.3L, 0.7L, -0.2L}, {0.1L, -0.5L, 0.4L}, {0.6L, 0.2L, 0.9L}};
  auto const r = product(A, linear_field(n, {0, 0, 0}, gradient));
  for (std::int64_t node = 0; node < n * n * n; ++node) {
    auto const x = position(node, n);
    bool inside = true;
    for (Real const coordinate : x) inside &= coordinate > 0 && coordinate < 0.999L;
    for (int i = 0; inside && i < 3; ++i) {
      std::size_t const row = std::size_t(3 * node + i);
      EXPECT_LE(std::abs(r.value[row]), 1.1L * unit_roundoff<double> * r.magnitude[row]);
    }
  }
}

std::vector<double> eigenvalues_of(HostMatrix<double> const& A) {
  std::size_t const n = std::size_t(A.rows);
  SmallMatrix<double> G("G", n, n);
  auto const full = dense(A);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) G(i, j) = full[i * n + j];
  std::vector<double> eigenvalues;
  EXPECT_EQ(lapack::hermitian_eigen(G, eigenvalues), 0);
  return eigenvalues;
}

TYPED_TEST(ElasticityGenerators, TheFreeBodyHasSixZeroModesAndTheClampedBodyNone) {
  auto const free = eigenvalues_of(generated<TypeParam>("elasticity:4:free"));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(free[i], 0, 1e-13) << i;
  EXPECT_GT(free[6], 1e-3);
  EXPECT_GT(eigenvalues_of(generated<TypeParam>("elasticity:4")).front(), 1e-3);
}

TYPED_TEST(ElasticityGenerators, TheMassOfTheBodyIsOneAlongEachAxis) {
  for (std::string_view const spec : {"elasticity-mass:2:free", "elasticity-mass:7:free"}) {
    auto const M = generated<TypeParam>(spec);
    Real total[3] = {0, 0, 0};
    for (std::int64_t i = 0; i < M.rows; ++i)
      for (std::int64_t k = M.row_map[i]; k < M.row_map[i + 1]; ++k) {
        EXPECT_GT(M.values[k], 0);
        ASSERT_EQ(M.entries[k] % 3, i % 3);
        total[i % 3] += M.values[k];
      }
    for (Real const mass : total) EXPECT_NEAR(mass, 1, 1.1L * unit_roundoff<double>) << spec;
  }
  EXPECT_GT(eigenvalues_of(generated<TypeParam>("elasticity-mass:4")).front(), 0);
}

TYPED_TEST(ElasticityGenerators, StiffnessAndMassOfTheSameBodyHaveTheSameUnknowns) {
  for (std::string const ending : {"5", "5:free"}) {
    auto const K = parse_generator_spec("elasticity:" + ending);
    auto const M = parse_generator_spec("elasticity-mass:" + ending);
    EXPECT_EQ(K.rows, M.rows);
    EXPECT_EQ(generated<TypeParam>("elasticity:" + ending).rows, K.rows);
    EXPECT_EQ(generated<TypeParam>("elasticity-mass:" + ending).rows, M.rows);
  }
}

}  // namespace
}  // namespace blockspan::test
