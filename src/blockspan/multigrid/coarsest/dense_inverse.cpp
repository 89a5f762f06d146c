#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <blockspan/multigrid/coarsest/dense_inverse.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::levels {

namespace {

template <class Scalar>
SmallMatrix<Scalar> copy_of(SmallMatrix<Scalar> const& A) {
  SmallMatrix<Scalar> const B("Blockspan::multigrid", A.extent(0), A.extent(1));
  Kokkos::deep_copy(B, A);
  return B;
}

/// A := S A S with unit diagonal; returns the diagonal of S.
template <class Scalar>
auto scale(SmallMatrix<Scalar> const& A) {
  std::size_t const n = A.extent(0);
  std::vector<double> s(n);
  for (std::size_t i = 0; i < n; ++i) {
    double const d = std::abs(real_part(A(i, i)));
    s[i] = d > 0 ? 1 / std::sqrt(d) : 0;
  }
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) A(i, j) *= s[i] * s[j];
  return s;
}

/// inverse := L^-H L^-1 with A = L L^H. False if A is too ill-conditioned for that.
template <class Scalar>
bool by_cholesky(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& inverse) {
  std::size_t const n = A.extent(0);
  auto const L = copy_of(A);
  if (lapack::cholesky(L) != 0) return false;
  double smallest = 1;
  for (std::size_t i = 0; i < n; ++i) smallest = std::min(smallest, squared_magnitude(L(i, i)));
  if (!(smallest >= 1e-11 * static_cast<double>(n))) return false;
  if (lapack::invert_lower_triangle(L) != 0) return false;
  lapack::square_lower_triangle(L);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) {
      inverse(i, j) = L(i, j);
      inverse(j, i) = conjugate(L(i, j));
    }
  return true;
}

template <class Scalar>
void by_eigenvalues(SmallMatrix<Scalar> const& V, bool positive, DenseInverse<Scalar>& result) {
  std::size_t const n = V.extent(0);
  std::vector<real_t<Scalar>> values;
  if (lapack::hermitian_eigen(V, values) != 0) {
    result.finite = false;
    return;
  }
  double const largest = std::max(std::abs(values.front()), std::abs(values.back()));
  result.lowest = largest > 0 ? values.front() / largest : 0;
  auto const scaled = copy_of(V);
  for (std::size_t j = 0; j < n; ++j) {
    bool const null = !(values[j] > 1e-13 * static_cast<double>(n) * largest);
    if (null) ++result.null_vectors;
    double const factor = !null ? 1 / values[j] : !positive ? 0 : largest > 0 ? 1 / largest : 1;
    for (std::size_t i = 0; i < n; ++i) scaled(i, j) *= factor;
  }
  lapack::multiply(lapack::Transform::none, lapack::Transform::adjoint, Scalar(1), scaled, V,
                   Scalar(0), result.inverse);
}

}  // namespace

template <class Scalar>
DenseInverse<Scalar> invert_on_range(SmallMatrix<Scalar> const& A, bool positive,
                                     std::size_t most) {
  std::size_t const n = A.extent(0);
  DenseInverse<Scalar> result{SmallMatrix<Scalar>("Blockspan::multigrid", n, n)};
  auto s = scale(A);
  if (!by_cholesky(A, result.inverse)) {
    result.too_large = n > most;
    if (result.too_large) return result;
    by_eigenvalues(A, positive, result);
  }
  for (double& factor : s)
    if (positive && factor == 0) factor = 1;  // zero rows
  auto const& X = result.inverse;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i <= j; ++i) {
      Scalar const mean = (X(i, j) + conjugate(X(j, i))) * (0.5 * s[i] * s[j]);
      X(i, j) = mean;
      X(j, i) = conjugate(mean);
    }
  return result;
}

template DenseInverse<double> invert_on_range(SmallMatrix<double> const&, bool, std::size_t);
template DenseInverse<Kokkos::complex<double>> invert_on_range(
    SmallMatrix<Kokkos::complex<double>> const&, bool, std::size_t);

}  // namespace blockspan::levels
