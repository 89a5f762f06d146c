// Whether the interval holds the spectrum, and whether an operator that must not be used is known.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multivector/combine.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "operators/apply.hpp"
#include "operators/chebyshev.hpp"
#include "support/matrices.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class ChebyshevBounds : public ::testing::Test {};
TYPED_TEST_SUITE(ChebyshevBounds, Configs, ConfigNames);

/// Expects Ritz values inside [smallest, largest] and the bound above, by at most `slack`.
template <class Setup>
void expect_encloses(Setup const& setup, double smallest, double largest, double slack,
                     std::string const& what) {
  using Real = typename Setup::Real;
  double const rounding = 100 * std::numeric_limits<Real>::epsilon() * largest;
  ASSERT_TRUE(setup.usable()) << what << ": " << setup.fault;
  EXPECT_GE(setup.estimate.smallest, smallest - rounding) << what;
  EXPECT_LE(setup.estimate.largest, largest + rounding) << what;
  EXPECT_GE(setup.estimate.largest + setup.estimate.residual, setup.estimate.largest) << what;
  EXPECT_GE(setup.upper, largest - rounding) << what;
  EXPECT_LE(setup.upper, slack * largest) << what;
  EXPECT_GE(*setup.row_sum_bound, largest - rounding) << what;
}

TYPED_TEST(ChebyshevBounds, HoldTheSpectraOfGrids) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  double const pi = std::acos(-1.0);
  for (int N : {2, 5, 20, 30})
    for (int dimensions : {2, 3}) {
      std::string const spec = (dimensions == 2 ? "laplace5:" : "laplace7:") +
                               std::to_string(dimensions == 2 ? 5 * N : N);
      int const edge = dimensions == 2 ? 5 * N : N;
      auto const matrix = generate<Scalar>(exec, spec);
      auto const A = matrix_operator(exec, matrix);
      // eigenvalues of the matrix: sums of 2 - 2 cos(k pi / (edge + 1)), over its diagonal
      double const cosine = std::cos(pi / (edge + 1));
      for (std::uint64_t seed : {1, 2, 3})
        expect_encloses(chebyshev_setup(exec, A, matrix, {.seed = seed}), 1 - cosine, 1 + cosine,
                        1.1, spec);
    }
}

TYPED_TEST(ChebyshevBounds, AreExactWhereTheSubspaceIsInvariant) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const diagonal = to_device(exec, diagonal_of<Scalar>({1e-3, 5, 700, 3, 2, 9}));
  auto const D = matrix_operator(exec, diagonal);
  auto const scaled = chebyshev_setup(exec, D, diagonal);
  EXPECT_EQ(scaled.estimate.steps, 1) << "the identity, once it is scaled";
  expect_encloses(scaled, 1, 1, 1.0001, "diagonal");
  // three different eigenvalues: three steps at most say it all
  auto const three = to_device(exec, diagonal_of<Scalar>({1, 2, 2, 4, 1, 4, 4, 2, 1}));
  auto const E = estimate_spectrum<Scalar, Exec>(exec, matrix_operator(exec, three),
                                                 constant_weights<Scalar, Exec>(9));
  double const rounding = 100 * unit_roundoff<Scalar>;
  EXPECT_LE(E.steps, 4);
  EXPECT_NEAR(E.smallest, 1, rounding);
  EXPECT_NEAR(E.largest, 4, rounding);
  EXPECT_LE(E.residual, rounding);
}

using HostExec = Kokkos::DefaultHostExecutionSpace;
using FileMatrix = CrsMatrix<double, HostExec>;

/// The eigenvalues of the matrix scaled to a unit diagonal, by LAPACK, ascending.
std::vector<double> scaled_spectrum(FileMatrix const& A) {
  auto const n = static_cast<std::size_t>(A.numRows());
  SmallMatrix<double> const S("Blockspan::test", n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (int k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
      S(i, static_cast<std::size_t>(A.graph.entries(k))) += A.values(k);
  std::vector<double> roots(n), values;
  for (std::size_t i = 0; i < n; ++i) roots[i] = 1 / std::sqrt(S(i, i));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) S(i, j) *= roots[i] * roots[j];
  EXPECT_EQ(lapack::hermitian_eigen(S, values), 0);
  return values;
}

/// U A U^H with a diagonal matrix U of random phases (signs, if real): the spectrum of A.
template <class Scalar>
HostMatrix<Scalar> with_phases(FileMatrix const& A) {
  Random random(8);
  std::vector<Scalar> phases;
  for (int i = 0; i < A.numRows(); ++i) {
    double const angle = 3.14159 * random.value<double>();
    if constexpr (is_complex_v<Scalar>)
      phases.push_back(Scalar(std::cos(angle), std::sin(angle)));
    else
      phases.push_back(Scalar(angle < 0 ? -1 : 1));
  }
  HostMatrix<Scalar> B{"file", A.numRows(), A.numCols(), {0}, {}, {}};
  for (int i = 0; i < A.numRows(); ++i) {
    for (int k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k) {
      int const j = A.graph.entries(k);
      auto const value = Scalar(static_cast<real_t<Scalar>>(A.values(k)));
      B.add(j, i == j ? value : value * phases[i] * blockspan::conjugate(phases[j]));
    }
    B.end_row();
  }
  return B;
}

TYPED_TEST(ChebyshevBounds, HoldTheSpectraOfRealMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!matrix_dir()) GTEST_SKIP() << "no folder of matrices";
  Exec const exec;
  for (std::string const name : {"bcsstk01", "bcsstk02", "nos4", "LF10", "Trefethen_20b", "494_bus",
                                 "bcsstk07", "nos5", "662_bus"}) {
    static std::map<std::string, std::vector<double>> spectra;
    auto const file = read_matrix_market<double>(HostExec(), matrix_path(name));
    if (!spectra.contains(name)) spectra[name] = scaled_spectrum(file);
    auto const matrix = to_device(exec, with_phases<Scalar>(file));
    auto const A = matrix_operator(exec, matrix);
    for (std::uint64_t seed : {1, 2, 3})
      expect_encloses(chebyshev_setup(exec, A, matrix, {.seed = seed}), spectra[name].front(),
                      spectra[name].back(), 1.15, name);
  }
}

TYPED_TEST(ChebyshevBounds, SemidefiniteIsNoFault) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (std::string const spec : {"laplace7:8", "rmat:8:2"}) {  // rmat: vertices without an edge
    auto const matrix = graph_laplacian<Scalar>(exec, generate<Scalar>(exec, spec));
    auto const A = matrix_operator(exec, matrix);
    auto const setup = chebyshev_setup(exec, A, matrix);
    EXPECT_TRUE(setup.usable()) << spec << ": " << setup.fault;
    EXPECT_LE(setup.upper, 2.001) << "row sums of a Laplacian over its diagonal are 2";
    EXPECT_GE(setup.upper, 1);
  }
}

template <class Scalar>
HostMatrix<Scalar> two_by_two(double a, double b, double c) {
  HostMatrix<Scalar> A{"2 x 2", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {}};
  for (double const value : {a, b, b, c})
    A.values.push_back(Scalar(static_cast<real_t<Scalar>>(value)));
  return A;
}

TYPED_TEST(ChebyshevBounds, SayWhyAnOperatorMustNotBeUsed) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const expect_fault = [&](HostMatrix<Scalar> const& host, std::string const& fault) {
    auto const matrix = to_device(exec, host);
    auto const A = matrix_operator(exec, matrix);
    auto const setup = chebyshev_setup(exec, A, matrix);
    EXPECT_THAT(setup.fault, HasSubstr(fault));
    EXPECT_FALSE(setup.usable());
    EXPECT_EQ(message_of([&] { chebyshev(exec, A, matrix); }),
              "blockspan::chebyshev: " + setup.fault);
  };
  std::string const sign = "is negative, or zero in a row with other entries";
  for (double const scale : {1.0, 1e-18, 1e18}) {
    expect_fault(two_by_two<Scalar>(scale, 0, -scale), "the diagonal entry of row 2 " + sign);
    expect_fault(two_by_two<Scalar>(0, scale, scale), "the diagonal entry of row 1 " + sign);
    expect_fault(two_by_two<Scalar>(scale, 2 * scale, scale),
                 "scaled to a unit diagonal it has "
                 "the Ritz value -1");
  }
  expect_fault(two_by_two<Scalar>(0, 0, 0), "the operator is zero");
  for (auto const bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (auto const& host : {two_by_two<Scalar>(1, bad, 1), two_by_two<Scalar>(bad, 0.5, 1)})
      expect_fault(host, "the operator has entries that are not finite");
}

TYPED_TEST(ChebyshevBounds, FindTheNegativeEndOfAnIndefiniteMatrix) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  // positive diagonal, one eigenvalue in thirty below zero: only the Ritz values show it
  auto const grid = generate<Scalar>(exec, "laplace5:20");
  auto const factors = jacobi(exec, grid).factors();
  auto const A = matrix_operator(exec, grid);
  auto const op =
      function_operator<Scalar, Exec>(400, [&](Exec const& e, auto const& X, auto const& Y) {
        A.apply(e, X, Y);  // Y = A X - X, by one column at a time as the estimate asks
        Workspace<Exec> workspace;
        Kokkos::View<Scalar[1][1], Kokkos::LayoutLeft, Kokkos::HostSpace> const one("one");
        one(0, 0) = Scalar(1);
        combine(e, Scalar(-1), X, one, Scalar(1), Y, workspace);
        e.fence("Blockspan::test");
      });
  auto const setup = chebyshev_setup<Scalar, Exec>(exec, op, factors);
  EXPECT_THAT(setup.fault, HasSubstr("the operator is not positive semidefinite"));
  EXPECT_LT(setup.estimate.smallest, -0.1);
  EXPECT_FALSE(setup.row_sum_bound.has_value()) << "only a matrix has row sums";
}

TYPED_TEST(ChebyshevBounds, RefuseShapesThatClash) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace5:4");
  auto const A = matrix_operator(exec, matrix);
  std::string const where = "blockspan::estimate_spectrum: ";
  EXPECT_EQ(message_of([&] {
              chebyshev_setup<Scalar, Exec>(exec, A, constant_weights<Scalar, Exec>(15));
            }),
            where + "the operator has 16 rows, there are 15 weights");
  EXPECT_EQ(message_of([&] {
              estimate_spectrum<Scalar, Exec>(exec, A, constant_weights<Scalar, Exec>(16), 0);
            }),
            where + "0 steps; at least one is needed");
  auto const empty = to_device(exec, HostMatrix<Scalar>{"0 x 0", 0, 0, {0}, {}, {}});
  auto const nothing = matrix_operator(exec, empty);
  EXPECT_EQ(chebyshev(exec, nothing, empty).rows(), 0);
}

}  // namespace
}  // namespace blockspan::test
