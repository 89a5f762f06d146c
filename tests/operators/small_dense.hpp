#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/blocks.hpp"
#include "support/extended.hpp"
#include "support/random.hpp"

namespace blockspan::test {

/// A small dense matrix in extended precision, row-major.
template <class Scalar>
struct SmallDense {
  using Value = extended_t<Scalar>;
  std::int64_t order;
  std::vector<Value> values;

  explicit SmallDense(std::int64_t n)
      : order(n), values(static_cast<std::size_t>(n * n), Value(0)) {}
  Value& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * order + j)];
  }
  Value const& operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * order + j)];
  }

  long double norm() const {  ///< Frobenius
    long double sum = 0;
    for (Value const& v : values) sum += std::norm(v);
    return std::sqrt(sum);
  }
};

template <class Scalar>
SmallDense<Scalar> product(SmallDense<Scalar> const& A, SmallDense<Scalar> const& B) {
  SmallDense<Scalar> C(A.order);
  for (std::int64_t i = 0; i < A.order; ++i)
    for (std::int64_t k = 0; k < A.order; ++k)
      for (std::int64_t j = 0; j < A.order; ++j) C(i, j) += A(i, k) * B(k, j);
  return C;
}

/// A^-1 by Gauss and Jordan with row pivoting.
template <class Scalar>
SmallDense<Scalar> inverse(SmallDense<Scalar> A) {
  std::int64_t const n = A.order;
  SmallDense<Scalar> X(n);
  for (std::int64_t i = 0; i < n; ++i) X(i, i) = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
    for (std::int64_t j = 0; j < n; ++j)
      std::swap(A(k, j), A(pivot, j)), std::swap(X(k, j), X(pivot, j));
    auto const d = A(k, k);
    for (std::int64_t j = 0; j < n; ++j) A(k, j) /= d, X(k, j) /= d;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      auto const f = A(i, k);
      for (std::int64_t j = 0; j < n; ++j) A(i, j) -= f * A(k, j), X(i, j) -= f * X(k, j);
    }
  }
  return X;
}

/// D A D with D = |diag A|^-1/2.
template <class Scalar>
SmallDense<Scalar> unit_diagonal(SmallDense<Scalar> A) {
  std::vector<long double> scale;
  for (std::int64_t i = 0; i < A.order; ++i) scale.push_back(1 / std::sqrt(std::abs(A(i, i))));
  for (std::int64_t i = 0; i < A.order; ++i)
    for (std::int64_t j = 0; j < A.order; ++j) A(i, j) *= scale[i] * scale[j];
  return A;
}

/// The smallest pivot of the Cholesky factorization of A, which stops at the first that is not
/// positive.
template <class Scalar>
long double smallest_pivot(SmallDense<Scalar> A) {
  long double smallest = HUGE_VALL;
  for (std::int64_t k = 0; k < A.order; ++k) {
    long double const pivot = std::real(A(k, k));
    smallest = std::min(smallest, pivot);
    if (!(pivot > 0)) return pivot;
    for (std::int64_t i = k + 1; i < A.order; ++i)
      for (std::int64_t j = k + 1; j < A.order; ++j)
        A(i, j) -= A(i, k) * conjugate(A(j, k)) / pivot;
  }
  return smallest;
}

/// Hermitian b x b, G G^H + I/10 for random G, times `shift` I subtracted, rows and columns scaled
/// by powers of two between 2^-spread and 2^spread.
template <class Scalar>
HostBlock<Scalar> hermitian_block(std::int64_t b, Random& random, int spread = 0,
                                  double shift = 0) {
  using Real = real_t<Scalar>;
  HostBlock<Scalar> G(b, b), B(b, b);
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j < b; ++j) G(i, j) = random.value<Scalar>();
  std::vector<Real> scale;
  for (std::int64_t i = 0; i < b; ++i)
    scale.push_back(std::ldexp(Real(1), static_cast<int>(random.below(2 * spread + 1)) - spread));
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      Scalar sum(i == j ? Real(0.1 - shift) : Real(0));
      for (std::int64_t k = 0; k < b; ++k) sum += G(i, k) * blockspan::conjugate(G(j, k));
      if (i == j) sum = Scalar(real_part(sum));
      B(i, j) = sum * (scale[i] * scale[j]);
      B(j, i) = blockspan::conjugate(B(i, j));
    }
  return B;
}

template <class Scalar>
SmallDense<Scalar> extended_block(HostBlock<Scalar> const& B) {
  SmallDense<Scalar> X(B.rows());
  for (std::int64_t i = 0; i < B.rows(); ++i)
    for (std::int64_t j = 0; j < B.rows(); ++j) X(i, j) = extended(B(i, j));
  return X;
}

}  // namespace blockspan::test
