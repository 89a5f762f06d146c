#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
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

  real_t<Scalar> infinity_norm() const;
  Scalar diagonal(int i) const;

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
TestMatrix<Scalar> diagonal_matrix(std::vector<real_t<Scalar>> const& values);

/// The 7-point matrix of an N^3 grid with Dirichlet boundaries, diagonal 6.
template <class Scalar>
TestMatrix<Scalar> grid7(int N);

/// A copy on the device, compressed rows.
template <class Scalar, class Exec>
struct DeviceRows {
  template <class T>
  using Array = Kokkos::View<T*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Array<int> offsets, columns;
  Array<Scalar> values;
};

/// The operator of a TestMatrix, by code of the test's own: each row is summed in order. Counts its
/// calls and columns.
template <class Scalar, class Exec>
class TestOperator : public LinearOperator<Scalar, Exec>, public EntryAccess<Scalar, Exec> {
 public:
  TestOperator(Exec const& exec, TestMatrix<Scalar> const& A, bool tell_norm = true);

  std::int64_t rows() const override { return rows_; }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override;
  OperatorFacts<Scalar, Exec> facts() const override;
  bool apply_magnitudes(Exec const& exec, OperatorValues<real_t<Scalar> const, Exec> const& x,
                        OperatorValues<real_t<Scalar>, Exec> const& y) const override;
  /// Of numbers in single precision, summed in double; others are not known to more.
  bool subtract_accurately(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                           Block<Scalar, Exec> const& R) const override;

  mutable std::int64_t calls = 0, columns = 0;

 private:
  std::int64_t rows_, terms_ = 1;
  real_t<Scalar> norm_;
  bool tell_norm_;
  DeviceRows<Scalar, Exec> matrix_;
};

/// 1 / |a_ii| on the diagonal, 1 where that is zero.
template <class Scalar>
TestMatrix<Scalar> jacobi_matrix(TestMatrix<Scalar> const& A);

}  // namespace blockspan::test
