#pragma once

#include <cmath>
#include <complex>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/solvers/lobpcg.hpp>

#include "solvers/test_matrix.hpp"

namespace blockspan {
inline void PrintTo(Status status, std::ostream* out) { *out << to_string(status); }
}  // namespace blockspan

namespace blockspan::test {

using Extended = std::complex<long double>;
using Vectors = std::vector<std::vector<Extended>>;  ///< one a column

template <class Scalar, class Exec>
Vectors fetch(Block<Scalar, Exec> const& X, int columns) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  Vectors result(columns, std::vector<Extended>(X.extent(0)));
  for (int j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < X.extent(0); ++i) result[j][i] = wide(host(i, j));
  return result;
}

template <class Scalar>
Vectors apply(TestMatrix<Scalar> const& A, Vectors const& X) {
  Vectors Y(X.size(), std::vector<Extended>(A.order()));
  for (std::size_t j = 0; j < X.size(); ++j)
    for (int i = 0; i < A.order(); ++i)
      for (auto const& e : A.rows[i]) Y[j][i] += wide(e.value) * X[j][e.column];
  return Y;
}

inline Extended dot(std::vector<Extended> const& x, std::vector<Extended> const& y) {
  Extended sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
  return sum;
}
inline long double norm(std::vector<Extended> const& x) { return std::sqrt(dot(x, x).real()); }

/// What test code finds out about an answer from A, B, the values and the vectors alone, in
/// extended precision.
struct Judgement {
  std::vector<long double> residual;  ///< ||A x - lambda B x||
  std::vector<long double> backward;  ///< over (a + |lambda| b) ||x||
  std::vector<long double> size;      ///< ||x||
  std::vector<long double> rayleigh;  ///< |x^H A x - lambda x^H B x|
  long double orthogonality = 0;      ///< max |X^H B X - I|
};

template <class Scalar, class Exec>
Judgement judge(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B,
                Block<Scalar, Exec> const& X, std::vector<real_t<Scalar>> const& values) {
  Vectors const x = fetch<Scalar, Exec>(X, static_cast<int>(values.size()));
  Vectors const ax = apply(A, x), bx = B ? apply(*B, x) : x;
  long double const a = A.infinity_norm(), b = B ? B->infinity_norm() : 1;
  Judgement result;
  for (std::size_t j = 0; j < x.size(); ++j) {
    long double sum = 0;
    for (std::size_t i = 0; i < x[j].size(); ++i)
      sum += std::norm(ax[j][i] - static_cast<long double>(values[j]) * bx[j][i]);
    result.residual.push_back(std::sqrt(sum));
    result.size.push_back(norm(x[j]));
    result.rayleigh.push_back(
        std::abs(dot(x[j], ax[j]) - static_cast<long double>(values[j]) * dot(x[j], bx[j])));
    long double const scale =
        (a + std::abs(static_cast<long double>(values[j])) * b) * result.size[j];
    result.backward.push_back(result.residual[j] == 0 ? 0 : result.residual[j] / scale);
    for (std::size_t k = 0; k <= j; ++k)
      result.orthogonality =
          std::max(result.orthogonality, std::abs(dot(x[k], bx[j]) - Extended(k == j ? 1 : 0)));
  }
  return result;
}

template <class Scalar, class Exec>
Block<Scalar, Exec> block_for(std::int64_t rows, int wanted) {
  return Block<Scalar, Exec>("Blockspan::test::X", rows, lobpcg_block_size(wanted));
}

}  // namespace blockspan::test
