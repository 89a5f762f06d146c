#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace blockspan::eigen {

/// Exponents e of a symmetric scaling S = diag(2^e_i) that brings the diagonal of S A S near one:
/// of B (in units of A) where A has a zero. Powers of two, so that no entry is rounded. Empty
/// where the diagonal spreads over less than 2^20. A scaling of this kind is within a factor n of
/// the best possible one (van der Sluis 1969, doi:10.1007/BF02165096).
template <class Real>
std::vector<int> scaling_exponents(std::vector<Real> const& a, std::vector<Real> const& b,
                                   int rows) {
  constexpr int tolerated = 20, most = 300;
  auto const largest = [](std::vector<Real> const& d) {
    Real result = 0;
    for (Real const value : d) result = std::max(result, std::abs(value));
    return result;
  };
  Real const unit_a = largest(a) > 0 ? largest(a) : Real(1), unit_b = largest(b);
  std::vector<int> exponents;
  for (int i = 0; i < rows; ++i) {
    Real size = std::abs(a[i]) / unit_a;
    if (!(size > 0) && !b.empty() && unit_b > 0) size = std::abs(b[i]) / unit_b;
    int const exponent = size > 0 ? std::ilogb(size) : 0;
    exponents.push_back(-std::clamp(exponent, -2 * most, 0) / 2);
  }
  auto const [least, most_found] = std::minmax_element(exponents.begin(), exponents.end());
  if (rows == 0 || *most_found - *least < tolerated / 2) return {};
  return exponents;
}

inline std::string scaling_in_words(std::vector<int> const& exponents) {
  if (exponents.empty()) return "";
  auto const [least, most] = std::minmax_element(exponents.begin(), exponents.end());
  std::ostringstream words;
  words << "rows and columns by powers of two, 2^" << *least << " to 2^" << *most
        << " (the diagonal is graded)";
  return words.str();
}

}  // namespace blockspan::eigen
