#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

// What an eigenvalue's error bound means to a user: decimal digits, or the value zero.
namespace blockspan::detail {

/// Decimal digits of `value` that an error of at most `bound` leaves certain: log10(|value| /
/// bound), at least 0 and at most what Real can hold.
template <class Real>
Real certain_digits(Real value, Real bound) {
  Real const most = static_cast<Real>(std::numeric_limits<Real>::digits) * std::log10(Real(2));
  if (!(bound < std::abs(value))) return 0;
  return bound > 0 ? std::min(most, std::log10(std::abs(value) / bound)) : most;
}

/// A value that double precision cannot tell from zero: value and bound lie below `noise`, what
/// rounding the operators' entries does to an eigenvalue.
template <class Real>
bool is_zero_to_rounding(Real value, Real bound, Real noise) {
  return std::abs(value) + bound <= noise;
}

/// The neighbourhoods of Ritz values (ascending), chained where they touch: first and last of the
/// cluster of each.
template <class Real>
std::vector<std::pair<int, int>> clusters(std::vector<Real> const& theta,
                                          std::vector<Real> const& radius) {
  int const count = static_cast<int>(theta.size());
  std::vector<std::pair<int, int>> result;
  for (int first = 0; first < count;) {
    int last = first;
    Real reach = theta[first] + radius[first];
    while (last + 1 < count && theta[last + 1] - radius[last + 1] <= reach) {
      ++last;
      reach = std::max(reach, theta[last] + radius[last]);
    }
    for (int j = first; j <= last; ++j) result.emplace_back(first, last);
    first = last + 1;
  }
  return result;
}

/// Radii by the gap to the neighbouring clusters (see LobpcgCertificate); never above `radius`.
/// `complete`: the values are the whole spectrum, so that nothing comes after the last one.
template <class Real>
std::vector<Real> gap_radii(std::vector<Real> const& theta, std::vector<Real> const& radius,
                            bool complete = false) {
  constexpr Real infinite = std::numeric_limits<Real>::infinity();
  int const count = static_cast<int>(theta.size());
  auto const cluster = clusters(theta, radius);
  std::vector<Real> result;
  for (int j = 0; j < count; ++j) {
    auto const [first, last] = cluster[j];
    Real above = last + 1 == count && !complete ? -infinite : infinite, below = infinite;
    Real squares = 0;
    for (int i = last + 1; i < count; ++i) above = std::min(above, theta[i] - radius[i] - theta[j]);
    for (int i = 0; i < first; ++i) below = std::min(below, theta[j] - theta[i] - radius[i]);
    for (int i = first; i <= last; ++i) squares += radius[i] * radius[i];
    Real const gap = std::min(above, below);
    result.push_back(gap > 0 ? std::min(radius[j], squares / gap) : radius[j]);
  }
  return result;
}

}  // namespace blockspan::detail
