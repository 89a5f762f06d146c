#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/operators/factors/direct_scaling.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

namespace {

/// Calls f(i, j, re, im) for every entry.
template <class Function>
void for_entries(HostHermitian const& A, Function const& f) {
  for (int i = 0; i < A.rows; ++i)
    for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e) {
      auto const* const value = &A.values[e * A.parts];
      f(i, A.columns[e], value[0], A.parts == 2 ? value[1] : 0.0);
    }
}

std::vector<double> diagonal_of(HostHermitian const& A) {
  std::vector<double> d(A.rows, 0.0);
  for_entries(A, [&](int i, int j, double re, double) {
    if (i == j) d[i] += re;
  });
  return d;
}

/// The exponent e for which 4^e times `value` is in [1, 4), within the range of double squared.
int halved_exponent(double value) {
  int const floor_of_half = std::ilogb(value) >> 1;
  return std::clamp(-floor_of_half, -511, 511);
}

}  // namespace

void require_finite(char const* where, char const* what, HostHermitian const& A) {
  for_entries(A, [&](int i, int j, double re, double im) {
    require(std::isfinite(re) && std::isfinite(im), where, what, " has ",
            std::isnan(re) || std::isnan(im) ? "a NaN" : "an infinite entry", " in row ", i + 1,
            ", column ", j + 1, " (counted from 1)");
  });
}

std::vector<double> symmetric_scaling(HostHermitian const& A) {
  std::vector<int> exponent(A.rows, 0);
  auto const d = diagonal_of(A);
  for (int i = 0; i < A.rows; ++i)
    if (d[i] != 0) exponent[i] = halved_exponent(std::abs(d[i]));
  std::vector<double> scaling(A.rows);
  auto const take_powers = [&] {
    for (int i = 0; i < A.rows; ++i) scaling[i] = std::ldexp(1.0, exponent[i]);
  };
  take_powers();
  // for a positive semidefinite A, where |a_ij|^2 <= a_ii a_jj, nothing is left to do
  std::vector<double> largest(A.rows);
  for (int sweep = 0; sweep < 8; ++sweep) {
    std::fill(largest.begin(), largest.end(), 0.0);
    for_entries(A, [&](int i, int j, double re, double im) {
      double const size = std::max(std::abs(re), std::abs(im)) * scaling[i];
      largest[i] = std::max(largest[i], size * scaling[j]);
    });
    bool changed = false;
    for (int i = 0; i < A.rows; ++i) {
      if (largest[i] == 0 || (largest[i] < 4 && (largest[i] >= 0.25 || d[i] != 0))) continue;
      int const step = halved_exponent(largest[i]);
      changed = changed || step != 0;
      exponent[i] = std::clamp(exponent[i] + step, -511, 511);
    }
    if (!changed) break;
    take_powers();
  }
  return scaling;
}

std::vector<double> scaled_triangle(HostHermitian const& A, std::vector<double> const& scaling) {
  std::vector<double> values;
  values.reserve(A.values.size() * A.parts);
  for_entries(A, [&](int i, int j, double re, double im) {
    if (j > i) return;
    double const p = re * scaling[i] * scaling[j];
    double const q = im * scaling[i] * scaling[j];
    values.push_back(p);
    if (A.parts == 1) return;
    values.push_back(p);
    if (i != j) values.push_back(q), values.push_back(-q);
  });
  return values;
}

std::vector<double> squares(std::vector<double> const& scaling, int parts) {
  std::vector<double> values;
  values.reserve(scaling.size() * parts);
  for (double const s : scaling) values.insert(values.end(), parts, s * s);
  return values;
}

void Places::add(HostHermitian const& A) {
  auto const place = [&](int i, int j) {
    rows.push_back(i + 1);
    columns.push_back(j + 1);
  };
  for_entries(A, [&](int i, int j, double, double) {
    if (j > i) return;
    if (A.parts == 1) return place(i, j);
    place(2 * i, 2 * j);
    place(2 * i + 1, 2 * j + 1);
    if (i != j) place(2 * i + 1, 2 * j), place(2 * i, 2 * j + 1);
  });
}

void Places::add_diagonal(int order) {
  for (int i = 1; i <= order; ++i) rows.push_back(i), columns.push_back(i);
}

double least_quotient(HostHermitian const& A, HostHermitian const* M) {
  auto const a = diagonal_of(A);
  auto const m = M != nullptr ? diagonal_of(*M) : std::vector<double>(A.rows, 1.0);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < A.rows; ++i)
    if (m[i] > 0) least = std::min(least, a[i] / m[i]);
  return least;
}

double definite_shift(HostHermitian const& A, HostHermitian const* M) {
  std::vector<double> radius(A.rows, 0.0);
  for_entries(A, [&](int i, int j, double re, double im) {
    radius[i] += i == j ? -re : std::hypot(re, im);
  });
  auto const m = M != nullptr ? diagonal_of(*M) : std::vector<double>(A.rows, 1.0);
  double sigma = 0;
  for (int i = 0; i < A.rows; ++i)
    if (m[i] > 0) sigma = std::max(sigma, radius[i] / m[i]);
  return sigma * (1 + 0x1p-10);
}

}  // namespace blockspan::operators
