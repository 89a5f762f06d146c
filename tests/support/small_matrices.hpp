#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/support/lapack/lapack.hpp>

#include "support/blocks.hpp"
#include "support/types.hpp"

namespace blockspan::test {

/// For typed tests: LAPACK has them all, whatever the library is compiled for.
using LapackScalars =
    ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
struct ScalarNames {
  template <class T>
  static std::string GetName(int) {
    return ConfigNames::scalar_name<T>();
  }
};

/// What tests of small dense algebra need.
template <class Scalar>
struct SmallMatrices {
  static constexpr double eps = 2 * unit_roundoff<Scalar>;

  /// A view of m x n inside a larger matrix, so that the leading dimension is not m.
  static SmallMatrix<Scalar> inside(HostBlock<Scalar> const& values) {
    int const m = static_cast<int>(values.rows()), n = static_cast<int>(values.columns());
    SmallMatrix<Scalar> const outer("Blockspan::test", m + 3, n);
    SmallMatrix<Scalar> const A = Kokkos::subview(outer, std::pair(2, m + 2), Kokkos::ALL);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) A(i, j) = values(i, j);
    return A;
  }
  static HostBlock<Scalar> values_of(SmallMatrix<Scalar> const& A) {
    HostBlock<Scalar> values(static_cast<int>(A.extent(0)), static_cast<int>(A.extent(1)));
    for (int i = 0; i < values.rows(); ++i)
      for (int j = 0; j < values.columns(); ++j) values(i, j) = A(i, j);
    return values;
  }
  /// max |P Q - R|, P and Q adjoint where asked for, in extended precision.
  static double residual(HostBlock<Scalar> const& P, bool adjoint_p, HostBlock<Scalar> const& Q,
                         bool adjoint_q, HostBlock<Scalar> const& R);
  static HostBlock<Scalar> identity(int n) {
    HostBlock<Scalar> I(n, n);
    for (int i = 0; i < n; ++i) I(i, i) = Scalar(1);
    return I;
  }
  /// Hermitian; diagonally dominant, and so positive definite, for a shift of 2 n.
  static HostBlock<Scalar> hermitian(int n, double shift) {
    auto const X = random_block<Scalar>(n, n, 1);
    HostBlock<Scalar> A(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) A(i, j) = X(i, j) + blockspan::conjugate(X(j, i));
    for (int i = 0; i < n; ++i) A(i, i) += Scalar(real_t<Scalar>(shift));
    return A;
  }

  /// That the columns of U are orthonormal, and the values ascending, to the rounding of a
  /// backward stable eigensolver.
  static void expect_eigenpairs(HostBlock<Scalar> const& A, HostBlock<Scalar> const& U,
                                std::vector<real_t<Scalar>> const& values) {
    int const n = static_cast<int>(A.rows());
    ASSERT_EQ(values.size(), static_cast<std::size_t>(n));
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    HostBlock<Scalar> scaled(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) scaled(i, j) = U(i, j) * values[static_cast<std::size_t>(j)];
    EXPECT_LE(residual(A, false, U, false, scaled), 20 * eps * (n + 1) * (n + 1));
    EXPECT_LE(residual(U, true, U, false, identity(n)), 20 * eps * (n + 1));
  }
};

}  // namespace blockspan::test
