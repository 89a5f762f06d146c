#include "solvers/test_matrix.hpp"

#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar>
real_t<Scalar> TestMatrix<Scalar>::infinity_norm() const {
  long double largest = 0;
  for (auto const& row : rows) {
    long double sum = 0;
    for (Entry const& e : row) sum += std::abs(wide(e.value));
    largest = std::max(largest, sum);
  }
  return static_cast<real_t<Scalar>>(largest);
}

template <class Scalar>
Scalar TestMatrix<Scalar>::diagonal(int i) const {
  Scalar sum = 0;
  for (Entry const& e : rows[i])
    if (e.column == i) sum += e.value;
  return sum;
}

template <class Scalar>
TestMatrix<Scalar> diagonal_matrix(std::vector<real_t<Scalar>> const& values) {
  TestMatrix<Scalar> A(static_cast<std::int64_t>(values.size()));
  for (int i = 0; i < A.order(); ++i) A.add(i, i, Scalar(values[i]));
  return A;
}

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

namespace {

template <class Scalar, class Exec>
struct MultiplyRows {
  DeviceRows<Scalar, Exec> A;
  ConstBlock<Scalar, Exec> X;
  Block<Scalar, Exec> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t j = 0; j < Y.extent(1); ++j) Y(i, j) = Scalar(0);
    for (int k = A.offsets(i); k < A.offsets(i + 1); ++k)
      for (std::size_t j = 0; j < Y.extent(1); ++j) Y(i, j) += A.values(k) * X(A.columns(k), j);
  }
};

/// y = |A| x
template <class Scalar, class Exec>
struct MultiplyMagnitudes {
  DeviceRows<Scalar, Exec> A;
  OperatorValues<real_t<Scalar> const, Exec> x;
  OperatorValues<real_t<Scalar>, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    y(i) = 0;
    for (int k = A.offsets(i); k < A.offsets(i + 1); ++k)
      y(i) += Kokkos::abs(A.values(k)) * x(A.columns(k));
  }
};

template <class Exec, class T>
auto on_device(Exec const& exec, std::vector<T> const& host) {
  Kokkos::View<T*, Kokkos::Device<Exec, typename Exec::memory_space>> const array("Blockspan::test",
                                                                                  host.size());
  Kokkos::deep_copy(
      exec, array,
      Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          host.data(), host.size()));
  exec.fence();
  return array;
}

}  // namespace

template <class Scalar, class Exec>
TestOperator<Scalar, Exec>::TestOperator(Exec const& exec, TestMatrix<Scalar> const& A,
                                         bool tell_norm)
    : rows_(A.order()), norm_(A.infinity_norm()), tell_norm_(tell_norm) {
  std::vector<int> offsets{0}, indices;
  std::vector<Scalar> values;
  for (auto const& row : A.rows) {
    for (auto const& e : row) indices.push_back(e.column), values.push_back(e.value);
    terms_ = std::max(terms_, static_cast<std::int64_t>(row.size()));
    offsets.push_back(static_cast<int>(indices.size()));
  }
  matrix_ = {on_device(exec, offsets), on_device(exec, indices), on_device(exec, values)};
}

template <class Scalar, class Exec>
void TestOperator<Scalar, Exec>::apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                       Block<Scalar, Exec> const& Y) const {
  ++calls;
  columns += static_cast<std::int64_t>(X.extent(1));
  Kokkos::parallel_for("Blockspan::test::apply", Kokkos::RangePolicy<Exec>(exec, 0, rows_),
                       MultiplyRows<Scalar, Exec>{matrix_, X, Y});
}

template <class Scalar, class Exec>
OperatorFacts<Scalar, Exec> TestOperator<Scalar, Exec>::facts() const {
  return {.norm_bound = tell_norm_ ? std::optional(norm_) : std::nullopt,
          .terms_per_row = terms_,
          .entries = this};
}

template <class Scalar, class Exec>
bool TestOperator<Scalar, Exec>::apply_magnitudes(
    Exec const& exec, OperatorValues<real_t<Scalar> const, Exec> const& x,
    OperatorValues<real_t<Scalar>, Exec> const& y) const {
  Kokkos::parallel_for("Blockspan::test::magnitudes", Kokkos::RangePolicy<Exec>(exec, 0, rows_),
                       MultiplyMagnitudes<Scalar, Exec>{matrix_, x, y});
  exec.fence();
  return true;
}

/// R -= A X, summed in double.
template <class Scalar, class Exec>
struct SubtractInDouble {
  using Sum = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;
  DeviceRows<Scalar, Exec> A;
  ConstBlock<Scalar, Exec> X;
  Block<Scalar, Exec> R;

  KOKKOS_FUNCTION void operator()(int i) const {
    for (std::size_t j = 0; j < R.extent(1); ++j) {
      Sum sum(R(i, j));
      for (int k = A.offsets(i); k < A.offsets(i + 1); ++k)
        sum -= Sum(A.values(k)) * Sum(X(A.columns(k), j));
      R(i, j) = Scalar(sum);
    }
  }
};

template <class Scalar, class Exec>
bool TestOperator<Scalar, Exec>::subtract_accurately(Exec const& exec,
                                                     ConstBlock<Scalar, Exec> const& X,
                                                     Block<Scalar, Exec> const& R) const {
  if constexpr (sizeof(real_t<Scalar>) < sizeof(double)) {
    Kokkos::parallel_for("Blockspan::test::subtract", Kokkos::RangePolicy<Exec>(exec, 0, rows_),
                         SubtractInDouble<Scalar, Exec>{matrix_, X, R});
    return true;
  }
  (void)exec, (void)X, (void)R;
  return false;
}

template <class Scalar>
TestMatrix<Scalar> jacobi_matrix(TestMatrix<Scalar> const& A) {
  std::vector<real_t<Scalar>> inverse;
  for (int i = 0; i < A.order(); ++i) {
    auto const d = std::abs(wide(A.diagonal(i)));
    inverse.push_back(d > 0 ? static_cast<real_t<Scalar>>(1 / d) : real_t<Scalar>(1));
  }
  return diagonal_matrix<Scalar>(inverse);
}

#define INSTANTIATE(Scalar)                                                                \
  template struct TestMatrix<Scalar>;                                                      \
  template TestMatrix<Scalar> diagonal_matrix<Scalar>(std::vector<real_t<Scalar>> const&); \
  template TestMatrix<Scalar> grid7<Scalar>(int);                                          \
  template TestMatrix<Scalar> jacobi_matrix(TestMatrix<Scalar> const&);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(Scalar, Exec) template class TestOperator<Scalar, Exec>;
BLOCKSPAN_TEST_EACH(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
