#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/support/lapack/lapack.hpp>

#include "solvers/grid_vectors.hpp"
#include "solvers/solve.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Scalar>
using Columns = std::vector<std::vector<Scalar>>;

template <class Scalar, class Exec>
Block<Scalar, Exec> on_device(Columns<Scalar> const& columns) {
  Block<Scalar, Exec> const Y("Blockspan::test::Y", columns[0].size(), columns.size());
  set_columns<Scalar, Exec>(Y, static_cast<int>(columns.size()),
                            [&](int i, int j) { return columns[j][i]; });
  return Y;
}

/// max |y^H B x| / (||B y|| ||x||) over the answer x and the constraints y.
template <class Scalar, class Exec>
long double overlap(Solved<Scalar, Exec> const& solved, TestMatrix<Scalar> const* B,
                    Block<Scalar, Exec> const& Y) {
  int const k = static_cast<int>(solved.report.eigenvalues.size());
  auto const x = fetch<Scalar, Exec>(solved.X, k);
  auto const y = fetch<Scalar, Exec>(Y, static_cast<int>(Y.extent(1)));
  auto const by = B ? apply(*B, y) : y;
  long double worst = 0;
  for (auto const& a : by)
    for (auto const& b : x)
      if (norm(a) > 0) worst = std::max(worst, std::abs(dot(a, b)) / (norm(a) * norm(b)));
  return worst;
}

/// An orthonormal basis of the vectors orthogonal to all of `given`, by Gram-Schmidt in extended
/// precision: column by column, first the given ones, then unit vectors.
Vectors complement(Vectors const& given) {
  std::size_t const n = given[0].size();
  Vectors basis;
  auto const add = [&](std::vector<Extended> v) {
    long double const before = norm(v);
    for (int pass = 0; pass < 3; ++pass)
      for (auto const& q : basis) {
        Extended const c = dot(q, v);
        for (std::size_t i = 0; i < n; ++i) v[i] -= c * q[i];
      }
    long double const size = norm(v);
    if (!(size > 1e-3L * before)) return false;
    for (auto& entry : v) entry /= size;
    basis.push_back(v);
    return true;
  };
  for (auto const& v : given) EXPECT_TRUE(add(v)) << "the test needs independent constraints";
  for (std::size_t i = 0; i < n && basis.size() < n; ++i) {
    std::vector<Extended> unit(n);
    unit[i] = 1;
    add(unit);
  }
  return {basis.begin() + static_cast<std::ptrdiff_t>(given.size()), basis.end()};
}

template <class Scalar>
SmallMatrix<Scalar> projected(TestMatrix<Scalar> const& A, Vectors const& Z) {
  auto const AZ = apply(A, Z);
  SmallMatrix<Scalar> const M("M", Z.size(), Z.size());
  for (std::size_t i = 0; i < Z.size(); ++i)
    for (std::size_t j = 0; j < Z.size(); ++j) {
      Extended const value = dot(Z[i], AZ[j]);
      if constexpr (is_complex_v<Scalar>)
        M(i, j) = Scalar(static_cast<real_t<Scalar>>(value.real()),
                         static_cast<real_t<Scalar>>(value.imag()));
      else
        M(i, j) = static_cast<Scalar>(value.real());
    }
  return M;
}

/// Eigenvalues of A x = lambda B x restricted to Y^H B x = 0, by dense algebra.
template <class Scalar>
std::vector<double> restricted_spectrum(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const& B,
                                        Vectors const& Y) {
  using lapack::Transform;
  auto const Z = complement(apply(B, Y));
  auto const M = projected(A, Z), L = projected(B, Z);
  EXPECT_EQ(lapack::cholesky(L), 0);
  EXPECT_EQ(lapack::invert_lower_triangle(L), 0);
  SmallMatrix<Scalar> const left("left", Z.size(), Z.size());
  lapack::multiply(Transform::none, Transform::none, Scalar(1), L, M, Scalar(0), left);
  lapack::multiply(Transform::none, Transform::adjoint, Scalar(1), left, L, Scalar(0), M);
  std::vector<real_t<Scalar>> values;
  EXPECT_EQ(lapack::hermitian_eigen(M, values), 0);
  return {values.begin(), values.end()};
}

template <class Exec>
class Constraints : public ::testing::Test {};
TYPED_TEST_SUITE(Constraints, Backends);

TYPED_TEST(Constraints, KnownEigenvectorsAreLeftOut) {
  constexpr int N = 8, known = 5, wanted = 6;
  auto const A = grid7<double>(N);
  GridVectors const vectors(N);
  Columns<double> columns(known, std::vector<double>(A.order()));
  for (int j = 0; j < known; ++j)
    for (int i = 0; i < A.order(); ++i) columns[j][i] = vectors(i, j);
  auto const Y = on_device<double, TypeParam>(columns);
  auto const solved = solve<double, TypeParam>(
      A, nullptr, wanted, [&](auto& options, auto const&) { options.constraints = Y; });
  EXPECT_EQ(solved.report.status, Status::converged);
  auto const all = grid7_spectrum(N);
  expect_values(solved, {all.begin() + known, all.end()}, A.infinity_norm());
  EXPECT_LE((overlap<double, TypeParam>(solved, nullptr, Y)), 1e-13);
  for (auto const error : solved.found.backward) EXPECT_LE(error, 1e-8);
}

/// Constraints that are no eigenvectors, in the inner product of a B, on both paths.
template <class Scalar, class Exec>
void check_arbitrary_constraints(int N, char const* path) {
  constexpr int wanted = 5;
  auto const A = grid7<double>(N).template as<Scalar>();
  auto B = A;
  for (int i = 0; i < B.order(); ++i) B.add(i, i, Scalar(1 + i % 5));
  Columns<Scalar> columns(3, std::vector<Scalar>(A.order()));
  for (int i = 0; i < A.order(); ++i) {
    columns[0][i] = Scalar(1);
    columns[1][i] = Scalar(std::cos(0.7 * i) * 1e150);
    columns[2][i] = Scalar((i % 7) * 1e-150);
    if constexpr (is_complex_v<Scalar>) columns[0][i] = Scalar(1, std::sin(0.3 * i));
  }
  auto const Y = on_device<Scalar, Exec>(columns);
  auto unit = columns;
  for (int i = 0; i < A.order(); ++i) unit[1][i] *= 1e-150, unit[2][i] *= 1e150;
  auto const exact =
      restricted_spectrum(A, B, fetch<Scalar, Exec>(on_device<Scalar, Exec>(unit), 3));
  auto const solved = solve<Scalar, Exec>(A, &B, wanted, [&](auto& options, auto const&) {
    options.constraints = Y;
    options.tolerance = 1e-10;
  });
  EXPECT_EQ(solved.report.path, path);
  EXPECT_EQ(solved.report.status, Status::converged);
  // Residuals of the projected problem bound the error of the values; B is at least 1.
  for (int j = 0; j < wanted; ++j) EXPECT_NEAR(solved.report.eigenvalues[j], exact[j], 1e-7) << j;
  EXPECT_LE(solved.found.orthogonality, 1e-12);
  EXPECT_LE((overlap<Scalar, Exec>(solved, &B, on_device<Scalar, Exec>(unit))), 1e-13);
}

TYPED_TEST(Constraints, AnyVectorsAreHeldInTheInnerProductOfB) {
  check_arbitrary_constraints<double, TypeParam>(5, "iterative");
  check_arbitrary_constraints<double, TypeParam>(3, "dense");
  if constexpr (has_scalar<Kokkos::complex<double>>) {
    check_arbitrary_constraints<Kokkos::complex<double>, TypeParam>(5, "iterative");
    check_arbitrary_constraints<Kokkos::complex<double>, TypeParam>(3, "dense");
  }
}

TYPED_TEST(Constraints, ZeroAndDependentOnesCountOnce) {
  constexpr int N = 6, wanted = 4;
  auto const A = grid7<double>(N);
  GridVectors const vectors(N);
  Columns<double> columns(4, std::vector<double>(A.order()));
  for (int i = 0; i < A.order(); ++i) {
    columns[0][i] = vectors(i, 0);
    columns[2][i] = -3 * vectors(i, 0);
    columns[3][i] = vectors(i, 0) + 1e-20 * vectors(i, 1);
  }
  auto const Y = on_device<double, TypeParam>(columns);
  auto const solved = solve<double, TypeParam>(
      A, nullptr, wanted, [&](auto& options, auto const&) { options.constraints = Y; });
  EXPECT_EQ(solved.report.status, Status::converged);
  auto const all = grid7_spectrum(N);
  expect_values(solved, {all.begin() + 1, all.end()}, A.infinity_norm());
}

TYPED_TEST(Constraints, AnExactStartInsideTheirSpanIsReplaced) {
  constexpr int N = 6, wanted = 4;
  auto const A = grid7<double>(N);
  GridVectors const vectors(N);
  Columns<double> columns(wanted, std::vector<double>(A.order()));
  for (int j = 0; j < wanted; ++j)
    for (int i = 0; i < A.order(); ++i) columns[j][i] = vectors(i, j);
  auto const Y = on_device<double, TypeParam>(columns);
  auto const solved = solve<double, TypeParam>(A, nullptr, wanted, [&](auto& options, auto& X) {
    options.constraints = Y;
    options.guess_columns = wanted;
    set_columns<double, TypeParam>(X, wanted, [&](int i, int j) { return columns[j][i]; });
  });
  EXPECT_EQ(solved.report.status, Status::converged);
  auto const all = grid7_spectrum(N);
  expect_values(solved, {all.begin() + wanted, all.end()}, A.infinity_norm());
}

TYPED_TEST(Constraints, BadOnesThrow) {
  using Exec = TypeParam;
  auto const A = grid7<double>(4);
  TestOperator<double, Exec> const a(Exec(), A);
  auto const X = block_for<double, Exec>(A.order(), 4);
  auto const bad = [&](Block<double, Exec> const& Y) {
    auto options = iteration_options<double, Exec>(4);
    options.constraints = Y;
    EXPECT_THROW(lobpcg(Exec(), a, X, options), Error);
  };
  bad(Block<double, Exec>("Y", A.order() - 1, 1));
  bad(Block<double, Exec>("Y", A.order(), A.order() - 3));
  Block<double, Exec> const Y("Y", A.order(), 2);
  set_columns<double, Exec>(Y, 2, [](int i, int j) {
    return i == 3 && j == 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0 + j * i;
  });
  bad(Y);
  EXPECT_THAT(message_of([&] {
                auto options = iteration_options<double, Exec>(4);
                options.constraints = Y;
                options.path = SolvePath::dense;
                lobpcg(Exec(), a, X, options);
              }),
              ::testing::HasSubstr("row 3, column 1 of the constraints (both from 0) is NaN"));
}

}  // namespace
}  // namespace blockspan::test
