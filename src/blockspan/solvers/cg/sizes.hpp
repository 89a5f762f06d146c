#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <blockspan/solvers/cg/passes.hpp>
#include <blockspan/solvers/cg/problem.hpp>

namespace blockspan::detail {

/// The exponent of a power of two near a positive number whose inverse is finite too.
template <class Real>
int exponent_near(Real value) {
  constexpr int range = std::numeric_limits<Real>::max_exponent - 3;
  return std::clamp(std::ilogb(value), -range, range);
}

/// value 2^exponent, for sizes whose squares over- or underflow.
struct ScaledSize {
  double value = 0;
  int exponent = 0;
};

/// ||x_j|| of the columns asked for. Synchronizes twice.
template <class Scalar, class Exec>
std::vector<ScaledSize> column_sizes(CgProblem<Scalar, Exec>& problem,
                                     BlockRef<Scalar const> const& X,
                                     std::vector<int> const& columns) {
  using Real = real_t<Scalar>;
  auto const largest = problem.fold("Blockspan::cg::largest", LargestTerms<Scalar>{X}, X.columns);
  std::vector<ScaledSize> sizes(static_cast<std::size_t>(X.columns));
  std::vector<Real> factors(static_cast<std::size_t>(X.columns), Real(1));
  for (int const j : columns)
    if (largest[j] > 0 && std::isfinite(largest[j])) {
      sizes[j].exponent = exponent_near(largest[j]);
      factors[j] = std::ldexp(Real(1), -sizes[j].exponent);
    }
  auto const squares = problem.fold(
      "Blockspan::cg::sizes", ScaledSquares<Scalar>{X, problem.on_device(factors)}, X.columns);
  for (int const j : columns) sizes[j].value = std::sqrt(static_cast<double>(squares[j]));
  return sizes;
}

}  // namespace blockspan::detail
