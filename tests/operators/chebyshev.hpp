#pragma once

#include <cmath>
#include <cstdint>

#include <blockspan/operators/linear_operator.hpp>

#include "operators/small_dense.hpp"
#include "spmm/battery.hpp"

namespace blockspan::test {

/// T_m(x), by its closed forms.
inline long double chebyshev_polynomial(int m, long double x) {
  if (std::abs(x) <= 1) return std::cos(static_cast<long double>(m) * std::acos(x));
  long double const value = std::cosh(static_cast<long double>(m) * std::acosh(std::abs(x)));
  return x < 0 && m % 2 == 1 ? -value : value;
}

/// q(t) with 1 - t q(t) = T_m((c - t) / h) / T_m(c / h) for the interval [a, b].
inline long double chebyshev_inverse(int m, long double a, long double b, long double t) {
  long double const c = (a + b) / 2, h = (b - a) / 2;
  if (t == 0) {  // the limit, by the derivative of T_m
    long double const angle = std::acosh(c / h);
    return static_cast<long double>(m) * std::tanh(static_cast<long double>(m) * angle) /
           (h * std::sinh(angle));
  }
  return (1 - chebyshev_polynomial(m, (c - t) / h) / chebyshev_polynomial(m, c / h)) / t;
}

/// A dense matrix with all its entries stored.
template <class Scalar>
HostMatrix<Scalar> stored(HostBlock<Scalar> const& B) {
  HostMatrix<Scalar> A{"dense", B.rows(), B.columns(), {0}, {}, {}};
  for (std::int64_t i = 0; i < B.rows(); ++i) {
    for (std::int64_t j = 0; j < B.columns(); ++j) A.add(j, B(i, j));
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> diagonal_of(std::vector<double> const& values) {
  auto const n = static_cast<std::int64_t>(values.size());
  HostMatrix<Scalar> A{"diagonal", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    A.add(i, Scalar(static_cast<real_t<Scalar>>(values[static_cast<std::size_t>(i)])));
    A.end_row();
  }
  return A;
}

/// n weights of one value.
template <class Scalar, class Exec>
Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> constant_weights(
    std::int64_t n, real_t<Scalar> value = 1) {
  Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> const weights("Blockspan::test", n);
  Kokkos::deep_copy(weights, value);
  return weights;
}

/// Counts products and columns.
template <class Scalar, class Exec>
class CountedOperator final : public LinearOperator<Scalar, Exec> {
 public:
  explicit CountedOperator(LinearOperator<Scalar, Exec> const& A) : A_(A) {}
  std::int64_t rows() const override { return A_.rows(); }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    ++products;
    columns += static_cast<std::int64_t>(X.extent(1));
    A_.apply(exec, X, Y);
  }
  mutable std::int64_t products = 0, columns = 0;

 private:
  LinearOperator<Scalar, Exec> const& A_;
};

}  // namespace blockspan::test
