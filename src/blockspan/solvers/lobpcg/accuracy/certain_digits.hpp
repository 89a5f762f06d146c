#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

// From error bounds of eigenvalues to certain decimal digits, and sharper bounds for clusters.
namespace blockspan::eigen {

/// Decimal digits of `value` that an error of at most `bound` leaves certain: log10(|value| /
/// bound), at least 0 and at most what Real can hold.
template <class Real>
Real certain_digits(Real value, Real bound) {
  Real const most = static_cast<Real>(std::numeric_limits<Real>::digits) * std::log10(Real(2));
  if (!(bound < std::abs(value))) return 0;
  return bound > 0 ? std::min(most, std::log10(std::abs(value) / bound)) : most;
}

/// At least `value`, in Real.
template <class Real>
Real rounded_up(long double value) {
  auto const result = static_cast<Real>(value);
  return result < value ? std::nextafter(result, std::numeric_limits<Real>::infinity()) : result;
}

/// Whether a value is zero to working precision: value and bound lie below `noise`, the
/// perturbation of an eigenvalue by rounding the operators' entries.
template <class Real>
bool is_zero_to_rounding(Real value, Real bound, Real noise) {
  return std::abs(value) + bound <= noise;
}

/// Widens bounds of values, theta ascending, each known to bound[i], so that they hold for the
/// j-th smallest of them: that lies between the j-th smallest of theta - bound and of theta +
/// bound. Values without a finite bound are skipped. O(count log count).
template <class Real>
void widen_by_order(std::vector<Real> const& theta, std::vector<Real>& bound) {
  std::vector<Real> lower, upper;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    if (!std::isfinite(bound[j])) continue;
    lower.push_back(theta[j] - bound[j]);
    upper.push_back(theta[j] + bound[j]);
  }
  std::sort(lower.begin(), lower.end());
  std::sort(upper.begin(), upper.end());
  for (std::size_t j = 0, k = 0; j < theta.size(); ++j) {
    if (!std::isfinite(bound[j])) continue;
    bound[j] = std::max({bound[j], theta[j] - lower[k], upper[k] - theta[j]});
    ++k;
  }
}

/// |x_i^H (A - theta_j B) x_j|^2 of vectors that are Ritz vectors to the last bit.
struct NoCoupling {
  long double operator()(int, int) const { return 0; }
};

/// In the range of Sum: long double holds the squares of all doubles.
template <class Sum>
Sum square(Sum value) {
  return value * value;
}

/// Whether Real holds the squares, and quotients of them, of all `radius`: long double, which holds
/// those of others, is several times slower.
template <class Real>
bool holds_squares(std::vector<Real> const& radius) {
  Real const least = std::ldexp(Real(1), std::numeric_limits<Real>::min_exponent / 4);
  return std::all_of(radius.begin(), radius.end(),
                     [&](Real r) { return r == 0 || (r >= least && r <= 1 / least); });
}

/// kahan_radii with squares and their sums in Sum.
template <class Sum, class Real>
std::vector<Real> kahan_radii_by(std::vector<Real> const& theta, std::vector<Real> const& radius,
                                 std::vector<Real> const& slack, int wanted) {
  std::vector<Real> result;
  for (int j = 0; j < static_cast<int>(theta.size()); ++j) {
    Sum sum = square<Sum>(radius[j]);
    auto const reach = [&] { return rounded_up<Real>(std::sqrt(sum)); };
    for (int f = j, s = j, before = -1; before != s - f;) {
      before = s - f;
      while (f > 0 &&
             !(theta[f - 1] + slack[f - 1] + result[f - 1] < theta[f] - slack[f] - reach()))
        --f, sum += square<Sum>(radius[f]);
      while (s + 1 < wanted &&
             !(theta[s] + slack[s] + reach() < theta[s + 1] - slack[s + 1] - radius[s + 1]))
        ++s, sum += square<Sum>(radius[s]);
    }
    result.push_back(reach());
  }
  return result;
}

/// Where no pair was missed, |lambda_j - theta_j| is at most (sum of radius_i^2)^1/2 over the
/// cluster of values around j whose intervals touch (Kahan; Parlett 1998, theorem 11.5.1). Of
/// values above j only those before `wanted` are included: the others are estimates.
/// slack: the rounding error of each value. O(count) times the length of clusters.
template <class Real>
std::vector<Real> kahan_radii(std::vector<Real> const& theta, std::vector<Real> const& radius,
                              std::vector<Real> const& slack, int wanted) {
  return holds_squares(radius) ? kahan_radii_by<Real>(theta, radius, slack, wanted)
                               : kahan_radii_by<long double>(theta, radius, slack, wanted);
}

/// gap_radii with squares and their sums in Sum.
template <class Sum, class Real, class Coupling>
std::vector<Real> gap_radii_by(std::vector<Real> const& theta, std::vector<Real> const& radius,
                               std::vector<Real> const& prior, std::vector<Real> const& slack,
                               Real beyond, Coupling const& coupling) {
  // largest extent of a cluster to either side, and number of ends that are tried
  constexpr int widest = 100, most_ends = 12;
  int const count = static_cast<int>(theta.size());
  // of i with itself and first..last
  auto const couplings = [&](int i, int first, int last) {
    if constexpr (std::is_same_v<Coupling, NoCoupling>) return Sum(0);
    auto sum = static_cast<Sum>(coupling(i, i));
    for (int k = first; k <= last; ++k)
      sum += static_cast<Sum>(coupling(i, k)) + static_cast<Sum>(coupling(k, i));
    return sum;
  };
  std::vector<Real> result;
  for (int j = 0; j < count; ++j) {
    Real best = prior[j];
    Sum upper = 0, coupled_above = 0;  // the squares of j..s
    for (int s = j, ends = 0; s < std::min(count, j + widest) && ends < most_ends; ++s) {
      upper += square<Sum>(radius[s]);
      coupled_above += couplings(s, j, s - 1);
      Real const above = (s + 1 < count ? theta[s + 1] - prior[s + 1] - slack[s + 1] : beyond) -
                         (theta[j] + slack[j]);
      if (!(above > 0)) continue;
      ++ends;
      Sum sum = upper, coupled = coupled_above;
      for (int f = j, starts = 0; f >= std::max(0, j - widest) && starts < most_ends; --f) {
        if (f < j) sum += square<Sum>(radius[f]), coupled += couplings(f, f + 1, s);
        Real const below = f > 0
                               ? theta[j] - slack[j] - (theta[f - 1] + result[f - 1] + slack[f - 1])
                               : std::numeric_limits<Real>::infinity();
        Real const gap = std::min(above, below);
        if (!(gap > 0)) continue;
        ++starts;
        best = std::min(best, rounded_up<Real>(sum / gap + std::sqrt(coupled)));
      }
    }
    result.push_back(best);
  }
  return result;
}

/// Bounds of |lambda_j - theta_j| by gaps, where no pair was missed; never above `prior`, known
/// bounds. radius: norms of the residuals (that of B^-1) of pairs with Rayleigh
/// quotients in ascending order. Any cut of the list into a cluster f..s around j and its
/// neighbours gives a bound: the sum of the squared radii of the cluster over the distance to the
/// other eigenvalues bounds how far these are from the Ritz values of the cluster (Kato and Temple;
/// Parlett 1998, theorem 11.7.1), the norm of the coupling of its vectors how far those are from
/// theta (Weyl); the smallest bound is returned. coupling(i, j): |x_i^H (A - theta_j B) x_j|^2,
/// which is not zero for vectors that are accurate to rounding: of a graded A it may be far above
/// small eigenvalues. slack: the rounding error of each value. beyond: a lower bound of the
/// eigenvalues after those of the list; minus infinity: unknown. O(count), with clusters of up to a
/// hundred values.
template <class Real, class Coupling>
std::vector<Real> gap_radii(std::vector<Real> const& theta, std::vector<Real> const& radius,
                            std::vector<Real> const& prior, std::vector<Real> const& slack,
                            Real beyond, Coupling const& coupling) {
  return holds_squares(radius)
             ? gap_radii_by<Real>(theta, radius, prior, slack, beyond, coupling)
             : gap_radii_by<long double>(theta, radius, prior, slack, beyond, coupling);
}

}  // namespace blockspan::eigen
