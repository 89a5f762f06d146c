#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/linear_operator.hpp>

#include "support/grid_spectrum.hpp"

namespace blockspan::test {

template <class Real>
std::complex<long double> wide(Kokkos::complex<Real> const& z) {
  return {z.real(), z.imag()};
}
template <class Real>
requires std::is_floating_point_v<Real> std::complex<long double> wide(Real x) {
  return {static_cast<long double>(x), 0};
}

/// A sparse matrix on the host, row by row: what tests build operators and judge answers with.
template <class Scalar>
struct TestMatrix {
  struct Entry {
    int column;
    Scalar value;
  };
  std::vector<std::vector<Entry>> rows;

  explicit TestMatrix(std::int64_t n = 0) : rows(static_cast<std::size_t>(n)) {}

  int order() const { return static_cast<int>(rows.size()); }
  void add(int i, int j, Scalar value) { rows[i].push_back({j, value}); }

  real_t<Scalar> infinity_norm() const {
    long double largest = 0;
    for (auto const& row : rows) {
      long double sum = 0;
      for (Entry const& e : row) sum += std::abs(wide(e.value));
      largest = std::max(largest, sum);
    }
    return static_cast<real_t<Scalar>>(largest);
  }

  Scalar diagonal(int i) const {
    Scalar sum = 0;
    for (Entry const& e : rows[i])
      if (e.column == i) sum += e.value;
    return sum;
  }

  TestMatrix scaled(real_t<Scalar> factor) const {
    TestMatrix result = *this;
    for (auto& row : result.rows)
      for (Entry& e : row) e.value *= factor;
    return result;
  }

  template <class Other>
  TestMatrix<Other> as() const {
    TestMatrix<Other> result(order());
    for (int i = 0; i < order(); ++i)
      for (Entry const& e : rows[i]) result.add(i, e.column, Other(e.value));
    return result;
  }
};

template <class Scalar>
TestMatrix<Scalar> diagonal_matrix(std::vector<real_t<Scalar>> const& values) {
  TestMatrix<Scalar> A(static_cast<std::int64_t>(values.size()));
  for (int i = 0; i < A.order(); ++i) A.add(i, i, Scalar(values[i]));
  return A;
}

/// The 7-point matrix of an N^3 grid with Dirichlet boundaries, diagonal 6.
template <class Scalar>
TestMatrix<Scalar> grid7(int N) {
  TestMatrix<Scalar> A(N * N * N);
  for (int i = 0; i < A.order(); ++i) {
    int const at[3] = {i % N, i / N % N, i / (N * N)};
    int const stride[3] = {1, N, N * N};
    A.add(i, i, Scalar(6));
    for (int d = 0; d < 3; ++d) {
      if (at[d] > 0) A.add(i, i - stride[d], Scalar(-1));
      if (at[d] < N - 1) A.add(i, i + stride[d], Scalar(-1));
    }
  }
  return A;
}

/// A copy on the device, compressed rows; each row is summed in order.
template <class Scalar, class Exec>
struct DeviceRows {
  template <class T>
  using Array = Kokkos::View<T*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Array<int> offsets, columns;
  Array<Scalar> values;
  ConstBlock<Scalar, Exec> X;
  Block<Scalar, Exec> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t j = 0; j < Y.extent(1); ++j) Y(i, j) = Scalar(0);
    for (int k = offsets(i); k < offsets(i + 1); ++k)
      for (std::size_t j = 0; j < Y.extent(1); ++j) Y(i, j) += values(k) * X(columns(k), j);
  }
};

/// y = |A| x
template <class Scalar, class Exec>
struct MagnitudeRows {
  DeviceRows<Scalar, Exec> rows;
  OperatorValues<real_t<Scalar> const, Exec> x;
  OperatorValues<real_t<Scalar>, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    y(i) = 0;
    for (int k = rows.offsets(i); k < rows.offsets(i + 1); ++k)
      y(i) += Kokkos::abs(rows.values(k)) * x(rows.columns(k));
  }
};

/// The operator of a TestMatrix, by code of the test's own; counts its calls and columns.
template <class Scalar, class Exec>
class TestOperator : public LinearOperator<Scalar, Exec> {
 public:
  TestOperator(Exec const& exec, TestMatrix<Scalar> const& A, bool tell_norm = true)
      : rows_(A.order()), norm_(A.infinity_norm()), tell_norm_(tell_norm) {
    std::vector<int> offsets{0}, indices;
    std::vector<Scalar> values;
    for (auto const& row : A.rows) {
      for (auto const& e : row) indices.push_back(e.column), values.push_back(e.value);
      terms_ = std::max(terms_, static_cast<std::int64_t>(row.size()));
      offsets.push_back(static_cast<int>(indices.size()));
    }
    kernel_.offsets = device(exec, offsets);
    kernel_.columns = device(exec, indices);
    kernel_.values = device(exec, values);
  }

  std::int64_t rows() const override { return rows_; }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    ++calls;
    columns += static_cast<std::int64_t>(X.extent(1));
    auto kernel = kernel_;
    kernel.X = X;
    kernel.Y = Y;
    Kokkos::parallel_for("Blockspan::test::apply", Kokkos::RangePolicy<Exec>(exec, 0, rows_),
                         kernel);
  }
  std::optional<real_t<Scalar>> norm_bound() const override {
    return tell_norm_ ? std::optional(norm_) : std::nullopt;
  }

  bool apply_magnitudes(Exec const& exec, OperatorValues<real_t<Scalar> const, Exec> const& x,
                        OperatorValues<real_t<Scalar>, Exec> const& y) const override {
    Kokkos::parallel_for("Blockspan::test::magnitudes", Kokkos::RangePolicy<Exec>(exec, 0, rows_),
                         MagnitudeRows<Scalar, Exec>{kernel_, x, y});
    exec.fence();
    return true;
  }
  std::int64_t terms_per_row() const override { return terms_; }

  mutable std::int64_t calls = 0, columns = 0;

 private:
  template <class T>
  static auto device(Exec const& exec, std::vector<T> const& host) {
    typename DeviceRows<Scalar, Exec>::template Array<T> const array("Blockspan::test",
                                                                     host.size());
    Kokkos::deep_copy(
        exec, array,
        Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            host.data(), host.size()));
    exec.fence();
    return array;
  }

  std::int64_t rows_, terms_ = 1;
  real_t<Scalar> norm_;
  bool tell_norm_;
  DeviceRows<Scalar, Exec> kernel_;
};

/// 1 / |a_ii| on the diagonal, 1 where that is zero.
template <class Scalar>
TestMatrix<Scalar> jacobi_matrix(TestMatrix<Scalar> const& A) {
  std::vector<real_t<Scalar>> inverse;
  for (int i = 0; i < A.order(); ++i) {
    auto const d = std::abs(wide(A.diagonal(i)));
    inverse.push_back(d > 0 ? static_cast<real_t<Scalar>>(1 / d) : real_t<Scalar>(1));
  }
  return diagonal_matrix<Scalar>(inverse);
}

}  // namespace blockspan::test
