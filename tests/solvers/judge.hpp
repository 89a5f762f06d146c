#pragma once

#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/solvers/lobpcg.hpp>

#include "solvers/print_status.hpp"
#include "solvers/test_matrix.hpp"

namespace blockspan::test {

using Extended = std::complex<long double>;
using Vectors = std::vector<std::vector<Extended>>;  ///< one a column

template <class Scalar, class Exec>
Vectors fetch(Block<Scalar, Exec> const& X, int columns);

template <class Scalar>
Vectors apply(TestMatrix<Scalar> const& A, Vectors const& X);

Extended dot(std::vector<Extended> const& x, std::vector<Extended> const& y);
long double norm(std::vector<Extended> const& x);

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
                Block<Scalar, Exec> const& X, std::vector<real_t<Scalar>> const& values);

template <class Scalar, class Exec>
Block<Scalar, Exec> block_for(std::int64_t rows, int wanted);

}  // namespace blockspan::test
