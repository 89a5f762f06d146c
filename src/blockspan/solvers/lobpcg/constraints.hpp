#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/problem.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

/// Puts the caller's constraints into problem.deflation: columns scaled by powers of two, made
/// B-orthonormal, those without a direction of their own dropped. The norms and scales of the
/// problem must be set. Throws Error where a column is not finite; fences exec.
template <class Scalar, class Exec>
std::optional<Status> take_constraints(Problem<Scalar, Exec>& problem,
                                       ConstBlock<Scalar, Exec> const& given) {
  using Real = real_t<Scalar>;
  int const count = static_cast<int>(given.extent(1));
  if (count == 0) return std::nullopt;
  auto const Y = problem.deflation.y(0, count), BY = problem.deflation.by(0, count);
  Kokkos::deep_copy(problem.exec, Y, given);
  std::vector<Real> factors;
  for (Real const entry : problem.largest_entries(Y)) {
    require(std::isfinite(entry), "lobpcg", "column ", factors.size(),
            " of the constraints has NaN or Inf");
    bool const zero = !(entry >= std::numeric_limits<Real>::min());
    factors.push_back(zero ? Real(0) : std::ldexp(Real(1), -std::ilogb(entry)));
  }
  problem.scale_each(Y, factors);
  if (problem.generalized()) {
    problem.apply_b(Y, BY);
    if (auto const trouble = problem.trouble_of_mass(Y, BY)) return trouble;
  }
  int const rank = problem.orthonormalize(Y, BY);
  if (problem.generalized() && rank > 0)
    problem.apply_b(problem.deflation.y(0, rank), problem.deflation.by(0, rank));
  problem.deflation.resize(rank);
  return std::nullopt;
}

}  // namespace blockspan::detail
