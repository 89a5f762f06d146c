// What the graph says before the first iteration: a bound of small eigenvalues against LAPACK, and
// which systems it sends elsewhere at once.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Scalar>
using Crs = CrsMatrix<Scalar, Kokkos::DefaultHostExecutionSpace>;

/// A copy on the host: there are no generators for a host that is no backend of the build.
template <class Scalar>
Crs<Scalar> of_spec(std::string const& spec) {
  auto const A = generate<Scalar>(Kokkos::DefaultExecutionSpace(), spec);
  auto const copy = [](auto const& from) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  };
  auto const values = copy(A.values);
  auto const offsets = copy(A.graph.row_map);
  auto const columns = copy(A.graph.entries);
  return Crs<Scalar>("A", A.numRows(), A.numCols(), static_cast<int>(A.nnz()),
                     const_cast<Scalar*>(values.data()), const_cast<int*>(offsets.data()),
                     const_cast<int*>(columns.data()));
}

/// a_ij *= f(i, j), which keeps A Hermitian.
template <class Scalar, class Function>
Crs<Scalar> changed(Crs<Scalar> const& A, Function const& f) {
  for (int i = 0; i < A.numRows(); ++i)
    for (auto p = A.graph.row_map(i); p < A.graph.row_map(i + 1); ++p)
      A.values(p) *= f(i, A.graph.entries(p));
  return A;
}

/// The eigenvalues of D^-1/2 A D^-1/2, ascending.
template <class Scalar>
std::vector<double> scaled_eigenvalues(Crs<Scalar> const& A) {
  auto const n = static_cast<std::size_t>(A.numRows());
  SmallMatrix<Scalar> G("G", n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (auto p = A.graph.row_map(i); p < A.graph.row_map(i + 1); ++p)
      G(i, static_cast<std::size_t>(A.graph.entries(p))) += A.values(p);
  std::vector<double> roots(n), eigenvalues;
  for (std::size_t i = 0; i < n; ++i) roots[i] = std::sqrt(real_part(G(i, i)));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) G(i, j) /= roots[i] * roots[j];
  EXPECT_EQ(lapack::hermitian_eigen(G, eigenvalues), 0);
  return eigenvalues;
}

double early_eigenvalue(auto const& A) { return graph_shape(A, GraphLook::early).small_eigenvalue; }

/// Grids with their sides held, which distances from these bound within a factor of eight.
TEST(GraphShape, BoundsThreeEigenvaluesOfGrids) {
  for (auto const* spec : {"laplace5:24", "laplace5:60x7"}) {
    auto const A = of_spec<double>(spec);
    double const bound = early_eigenvalue(A), third = scaled_eigenvalues(A)[2];
    EXPECT_GE(bound, third) << spec;
    EXPECT_LE(bound, 8 * third) << spec;
  }
  EXPECT_TRUE(std::isinf(early_eigenvalue(of_spec<double>("laplace5:300x1")))) << "held everywhere";
}

/// Couplings that jump, diagonals that are larger in some rows or all, and units of unknowns.
TEST(GraphShape, BoundsThreeEigenvaluesWhateverTheValues) {
  auto const uneven = [](int i, int j) { return 1 + 0.9 * std::sin(i + j); };
  for (double const more : {1.9, 2.5, 1000.0}) {
    auto const A = changed(of_spec<double>("laplace5:25x12"), [&](int i, int j) {
      return i != j ? uneven(i, j) : i % 40 < 10 ? more : 1.9;
    });
    EXPECT_GE(early_eigenvalue(A), scaled_eigenvalues(A)[2]) << more;
  }
  auto const units = changed(of_spec<double>("laplace5:25x12"),
                             [&](int i, int j) { return std::pow(10.0, i % 5 + j % 5); });
  EXPECT_GE(early_eigenvalue(units), scaled_eigenvalues(units)[2]);
}

/// A gauge field: D A D^H of a matrix that is real, with D of phases, has its eigenvalues.
TEST(GraphShape, BoundsThreeEigenvaluesOfComplexMatrices) {
  using Complex = Kokkos::complex<double>;
  for (double const step : {0.0, 0.001, 1.0}) {
    auto const A = changed(of_spec<Complex>("laplace5:25x12"), [&](int i, int j) {
      return Complex(std::cos(step * (i - j)), std::sin(step * (i - j)));
    });
    double const third = scaled_eigenvalues(of_spec<double>("laplace5:25x12"))[2];
    EXPECT_GE(early_eigenvalue(A), third) << step;
    EXPECT_EQ(early_eigenvalue(A) < 4 * third, step < 1) << step;
  }
}

/// Copies of a grid, of which the search reaches one: no part of half the rows is no evidence.
TEST(GraphShape, LooksAtTheLargestPartOnly) {
  auto const parted = [](int first, int last) {
    auto const part = [=](int i) { return i / 30 < first ? 0 : i / 30 < last ? 1 : 2; };
    return changed(of_spec<double>("laplace5:30"),
                   [&](int i, int j) { return part(i) == part(j) ? 1.0 : 0.0; });
  };
  auto const cut = [](Crs<double> const& A) {  // entries that are zero are edges all the same
    std::vector<int> offsets{0}, columns;
    std::vector<double> values;
    for (int i = 0; i < A.numRows(); ++i) {
      for (auto p = A.graph.row_map(i); p < A.graph.row_map(i + 1); ++p)
        if (A.values(p) != 0) columns.push_back(A.graph.entries(p)), values.push_back(A.values(p));
      offsets.push_back(static_cast<int>(columns.size()));
    }
    return Crs<double>("parts", A.numRows(), A.numRows(), static_cast<int>(values.size()),
                       values.data(), offsets.data(), columns.data());
  };
  auto const mostly = cut(parted(5, 28)), evenly = cut(parted(10, 20));
  EXPECT_GE(early_eigenvalue(mostly), scaled_eigenvalues(mostly)[2]);
  EXPECT_LT(early_eigenvalue(mostly), 1);
  EXPECT_FALSE(graph_shape(evenly, GraphLook::early).narrow) << "fewer than half from the middle";
}

TEST(GraphShape, SeesTheSameEarlyOfANarrowGraph) {
  for (auto const* spec : {"laplace5:60", "laplace5:300x20"}) {
    auto const A = of_spec<double>(spec);
    auto const early = graph_shape(A, GraphLook::early), later = graph_shape(A);
    EXPECT_TRUE(early.narrow);
    EXPECT_EQ(early.mixed_signs, later.mixed_signs) << spec;
    EXPECT_EQ(early.uneven, later.uneven) << spec;
    EXPECT_EQ(early.dissection, later.dissection) << spec;
    EXPECT_TRUE(std::isinf(later.small_eigenvalue));
  }
  for (auto const* spec : {"laplace7:40", "p1:20", "elasticity:12", "attachment:20000:3"})
    EXPECT_FALSE(graph_shape(of_spec<double>(spec), GraphLook::early).narrow) << spec;
}

TEST(GraphShape, SendsElsewhereWhatTakesManyIterations) {
  auto const early = [](char const* spec) {
    return graph_shape(of_spec<double>(spec), GraphLook::early);
  };
  auto const work = [](GraphShape const& shape, int columns, double tolerance) {
    return early_work(SolveKind::system, shape, columns, tolerance);
  };
  auto const hard = early("laplace5:300"), small = early("laplace5:60"),
             strip = early("laplace5:6000x10"), space = early("laplace7:24");
  for (int const columns : {1, 8, 32}) {
    // 122, 66 and twice 50 iterations of the polynomial
    double const left = work(hard, columns, 1e-8);
    EXPECT_GT(left, 20) << columns;
    EXPECT_LT(left, columns == 1 ? 122 : columns == 8 ? 66 : 50) << columns;
    EXPECT_EQ(work(small, columns, 1e-8), 0) << columns;
    EXPECT_EQ(work(strip, columns, 1e-8), 0) << "12 iterations, its sides being near";
    EXPECT_EQ(work(space, columns, 1e-8), 0) << columns;
  }
  EXPECT_EQ(work(hard, 1, 1e-2), 0) << "23 iterations";
  EXPECT_EQ(work(hard, 1, 0), 0);
  EXPECT_EQ(work({.narrow = true}, 1, 1e-8), 0) << "nothing is known";
  EXPECT_EQ(work({.narrow = true, .small_eigenvalue = -1e-9}, 1, 1e-8), 0) << "indefinite";
  GraphShape const plate{.narrow = true, .mixed_signs = true, .small_eigenvalue = 4e-3};
  EXPECT_GT(work(plate, 1, 1e-8), 0);
  EXPECT_EQ(work({.narrow = true, .small_eigenvalue = 4e-3}, 1, 1e-8), 0);
  EXPECT_GT(early_work(SolveKind::eigenpairs, small, 16, 1e-8), 0) << "pairs of the plane";
  EXPECT_EQ(early_work(SolveKind::eigenpairs, space, 16, 1e-8), 0);
}

TEST(GraphShape, IsLookedAtWhereRowsNearlyCancel) {
  EXPECT_TRUE(may_change_early(0.0033));  // laplace5:300
  EXPECT_FALSE(may_change_early(0.025));  // laplace7:40
  EXPECT_FALSE(may_change_early(0)) << "singular, or not consistent";
  EXPECT_FALSE(may_change_early(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace blockspan::test
