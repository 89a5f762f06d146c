#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/solvers/exact.hpp>
#include <blockspan/sparse/generators.hpp>

#include "spmm/battery.hpp"
#include "support/grid_spectrum.hpp"
#include "support/types.hpp"

namespace blockspan::test {

using ExactConfigs = ConfigsWith<InDouble>;

template <class Config>
class ExactTest : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Matrix = CrsMatrix<Value, typename Config::Exec>;
  using Vectors = Block<Value, typename Config::Exec>;

 protected:
  /// n x n, f(i, j) for |i - j| <= width.
  template <class Entry>
  Matrix banded(std::int64_t n, std::int64_t width, Entry const& f) const {
    HostMatrix<Value> A{"banded", n, n, {0}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      for (auto j = std::max<std::int64_t>(0, i - width); j <= std::min(n - 1, i + width); ++j)
        if (Value const value = f(i, j); value != Value(0)) A.add(j, value);
      A.end_row();
    }
    return to_device(exec_, A);
  }

  Matrix diagonal(std::vector<double> const& d) const {
    return banded(static_cast<std::int64_t>(d.size()), 0,
                  [&](std::int64_t i, std::int64_t) { return Value(d[i]); });
  }

  /// factor A
  Matrix scaled(Matrix const& A, double factor) const {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values);
    Kokkos::View<Value*, Kokkos::HostSpace> values("values", host.extent(0));
    for (std::size_t e = 0; e < host.extent(0); ++e) values(e) = factor * host(e);
    typename Matrix::values_type::non_const_type const copy("values", host.extent(0));
    Kokkos::deep_copy(copy, values);
    return Matrix("scaled", A.numCols(), copy, A.graph);
  }

  /// The graph of the d-dimensional cube: eigenvalues 2 j, binomial(d, j) times.
  Matrix cube(int d) const {
    std::int64_t const n = std::int64_t(1) << d;
    HostMatrix<Value> A{"cube", n, n, {0}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      A.add(i, Value(d));
      for (int b = 0; b < d; ++b) A.add(i ^ (std::int64_t(1) << b), Value(-1));
      A.end_row();
    }
    return to_device(exec_, A);
  }

  /// A chain of n unit springs, ends held, by complex bonds where Value is complex (the same
  /// eigenvalues, 2 - 2 cos(k pi / (n + 1))).
  Matrix chain(std::int64_t n) const {
    Value bond(-1);
    if constexpr (is_complex_v<Value>) bond = Value(-0.6, 0.8);
    return banded(n, 1, [&](std::int64_t i, std::int64_t j) {
      return i == j ? Value(2) : i < j ? bond : blockspan::conjugate(bond);
    });
  }
  static std::vector<double> chain_spectrum(std::int64_t n) {
    std::vector<double> values;
    for (std::int64_t k = 1; k <= n; ++k)
      values.push_back(
          2 - 2 * std::cos(static_cast<double>(k) * std::acos(-1.0) / static_cast<double>(n + 1)));
    return values;
  }

  /// The mass of a bar of linear elements, both ends held, whose stiffness is chain(n), and the
  /// eigenvalues of the pencil: 6 (1 - c) / (2 + c), c = cos(k pi / (n + 1)).
  Matrix bar_mass(std::int64_t n) const {
    Value bond(1);
    if constexpr (is_complex_v<Value>) bond = Value(0.6, -0.8);
    return banded(n, 1, [&](std::int64_t i, std::int64_t j) {
      return i == j ? Value(4.0 / 6) : (i < j ? bond : blockspan::conjugate(bond)) * Value(1.0 / 6);
    });
  }
  static std::vector<double> bar_spectrum(std::int64_t n) {
    std::vector<double> values;
    for (std::int64_t k = 1; k <= n; ++k) {
      double const c =
          std::cos(static_cast<double>(k) * std::acos(-1.0) / static_cast<double>(n + 1));
      values.push_back(6 * (1 - c) / (2 + c));
    }
    return values;
  }

  Vectors vectors(Matrix const& K, int columns) const { return Vectors("X", K.numRows(), columns); }

  ExactReport near(Matrix const& K, Matrix const* M, double sigma, ExactOptions options) const {
    return eigenpairs_near(exec_, K, M, sigma, vectors(K, options.pairs), options);
  }
  ExactReport inside(Matrix const& K, Matrix const* M, double a, double b,
                     ExactOptions const& options = {}) const {
    Vectors X;
    return eigenpairs_in(exec_, K, M, a, b, X, options);
  }

  typename Config::Exec exec_;
};

/// The `count` nearest sigma, ascending.
inline std::vector<double> nearest(std::vector<double> values, double sigma, std::size_t count) {
  std::stable_sort(values.begin(), values.end(),
                   [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
  values.resize(std::min(count, values.size()));
  std::sort(values.begin(), values.end());
  return values;
}

inline std::vector<double> within(std::vector<double> const& values, double a, double b) {
  std::vector<double> chosen;
  for (double const value : values)
    if (a < value && value < b) chosen.push_back(value);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// Whether the values are those of the truth, to `error`; and each within its bound.
inline ::testing::AssertionResult are_right(ExactReport const& report,
                                            std::vector<double> const& truth, double error) {
  if (report.eigenvalues.size() != truth.size())
    return ::testing::AssertionFailure() << report.eigenvalues.size() << " values, " << truth.size()
                                         << " are right: " << report.trouble;
  for (std::size_t j = 0; j < truth.size(); ++j) {
    double const off = std::abs(report.eigenvalues[j] - truth[j]);
    if (!(off <= error))
      return ::testing::AssertionFailure()
             << "value " << j << " is " << report.eigenvalues[j] << ", not " << truth[j];
    if (!(off <= report.error_bounds[j] + 1e-15 * std::abs(truth[j])))
      return ::testing::AssertionFailure() << "value " << j << " is off by " << off
                                           << ", its bound is " << report.error_bounds[j];
  }
  return ::testing::AssertionSuccess();
}

}  // namespace blockspan::test
