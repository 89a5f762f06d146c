#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/direct.hpp>

#include "operators/apply.hpp"
#include "operators/small_dense.hpp"
#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/extended.hpp"

namespace blockspan::test {

template <class Config>
class DirectTest : public ::testing::Test {
 protected:
  typename Config::Exec exec_;
};

/// A dense Hermitian matrix as a sparse one, without its zeros.
template <class Scalar>
HostMatrix<Scalar> sparse(HostBlock<Scalar> const& B) {
  HostMatrix<Scalar> A{"sparse", B.rows(), B.columns(), {0}, {}, {}};
  for (std::int64_t i = 0; i < B.rows(); ++i) {
    for (std::int64_t j = 0; j < B.columns(); ++j)
      if (B(i, j) != Scalar(0)) A.add(j, B(i, j));
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> diagonal_matrix(std::vector<double> const& d) {
  HostMatrix<Scalar> A{"diagonal", static_cast<std::int64_t>(d.size()), 0, {0}, {}, {}};
  A.columns = A.rows;
  for (std::size_t i = 0; i < d.size(); ++i) {
    A.add(static_cast<std::int64_t>(i), Scalar(static_cast<real_t<Scalar>>(d[i])));
    A.end_row();
  }
  return A;
}

/// A chain with free ends: semidefinite, its null vector is constant.
template <class Scalar>
HostBlock<Scalar> free_chain(std::int64_t n) {
  HostBlock<Scalar> B(n, n);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    B(i, i) += Scalar(1), B(i + 1, i + 1) += Scalar(1);
    B(i, i + 1) = B(i + 1, i) = Scalar(-1);
  }
  return B;
}

/// The largest of |S (b - B y)|_i over what a backward stable solve in the scaled coordinates may
/// leave, n u |S B S| |S^-1 y|, and over the rounding of y to Scalar. S: |diag B|^-1/2, or 1.
template <class Scalar>
long double residual_over_bound(HostBlock<Scalar> const& B, HostBlock<Scalar> const& b,
                                HostBlock<Scalar> const& y) {
  auto const n = B.rows();
  std::vector<long double> s;
  for (std::int64_t i = 0; i < n; ++i)
    s.push_back(B(i, i) == Scalar(0) ? 1 : 1 / std::sqrt(magnitude(B(i, i))));
  long double norm = 0, worst = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) norm += std::norm(extended(B(i, j)) * s[i] * s[j]);
  for (std::int64_t c = 0; c < b.columns(); ++c) {
    long double size = 0, residual = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      extended_t<Scalar> r = extended(b(i, c));
      for (std::int64_t j = 0; j < n; ++j) r -= extended(B(i, j)) * extended(y(j, c));
      residual += std::norm(r * s[i]);
      size += std::norm(extended(y(i, c)) / s[i]);
    }
    long double const bound =
        static_cast<long double>(n) * unit_roundoff<Scalar> * std::sqrt(norm) * std::sqrt(size);
    worst = std::max(worst, std::sqrt(residual) / bound);
  }
  return worst;
}

/// Whether a dense operator is Hermitian positive definite up to the rounding of its entries.
template <class Scalar>
::testing::AssertionResult is_definite(HostBlock<Scalar> const& T) {
  auto X = extended_block(T);
  long double const norm = X.norm();
  for (std::int64_t i = 0; i < X.order; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      auto const difference = std::abs(X(i, j) - conjugate(X(j, i)));
      if (difference > 100 * unit_roundoff<Scalar> * norm)
        return ::testing::AssertionFailure() << "not Hermitian: " << i << ", " << j;
      X(i, j) = X(j, i) = (X(i, j) + conjugate(X(j, i))) / 2.0L;
      if (i != j) X(j, i) = conjugate(X(i, j));
    }
  // rounding of entries next to a large null part must not decide
  for (std::int64_t i = 0; i < X.order; ++i) X(i, i) += 100 * unit_roundoff<Scalar> * norm;
  auto const pivot = smallest_pivot(X);
  if (pivot > 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "a pivot is " << pivot;
}

}  // namespace blockspan::test
