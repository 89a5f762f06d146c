#include "solvers/judge.hpp"

#include <algorithm>
#include <cmath>

#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar, class Exec>
Vectors fetch(Block<Scalar, Exec> const& X, int columns) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  Vectors result(columns, std::vector<Extended>(X.extent(0)));
  for (int j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < X.extent(0); ++i) result[j][i] = wide(host(i, j));
  return result;
}

template <class Scalar>
Vectors apply(TestMatrix<Scalar> const& A, Vectors const& X) {
  Vectors Y(X.size(), std::vector<Extended>(A.order()));
  for (std::size_t j = 0; j < X.size(); ++j)
    for (int i = 0; i < A.order(); ++i)
      for (auto const& e : A.rows[i]) Y[j][i] += wide(e.value) * X[j][e.column];
  return Y;
}

Extended dot(std::vector<Extended> const& x, std::vector<Extended> const& y) {
  Extended sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
  return sum;
}
long double norm(std::vector<Extended> const& x) { return std::sqrt(dot(x, x).real()); }

template <class Scalar, class Exec>
Judgement judge(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B,
                Block<Scalar, Exec> const& X, std::vector<real_t<Scalar>> const& values) {
  Vectors const x = fetch<Scalar, Exec>(X, static_cast<int>(values.size()));
  Vectors const ax = apply(A, x), bx = B ? apply(*B, x) : x;
  long double const a = A.infinity_norm(), b = B ? B->infinity_norm() : 1;
  Judgement result;
  for (std::size_t j = 0; j < x.size(); ++j) {
    long double sum = 0;
    for (std::size_t i = 0; i < x[j].size(); ++i)
      sum += std::norm(ax[j][i] - static_cast<long double>(values[j]) * bx[j][i]);
    result.residual.push_back(std::sqrt(sum));
    result.size.push_back(norm(x[j]));
    result.rayleigh.push_back(
        std::abs(dot(x[j], ax[j]) - static_cast<long double>(values[j]) * dot(x[j], bx[j])));
    long double const scale =
        (a + std::abs(static_cast<long double>(values[j])) * b) * result.size[j];
    result.backward.push_back(result.residual[j] == 0 ? 0 : result.residual[j] / scale);
    for (std::size_t k = 0; k <= j; ++k)
      result.orthogonality =
          std::max(result.orthogonality, std::abs(dot(x[k], bx[j]) - Extended(k == j ? 1 : 0)));
  }
  return result;
}

template <class Scalar, class Exec>
Block<Scalar, Exec> block_for(std::int64_t rows, int wanted) {
  return Block<Scalar, Exec>("Blockspan::test::X", rows, lobpcg_block_size(wanted));
}

#define INSTANTIATE(Scalar) template Vectors apply(TestMatrix<Scalar> const&, Vectors const&);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(Scalar, Exec)                                                              \
  template Vectors fetch<Scalar, Exec>(Block<Scalar, Exec> const&, int);                       \
  template Judgement judge<Scalar, Exec>(TestMatrix<Scalar> const&, TestMatrix<Scalar> const*, \
                                         Block<Scalar, Exec> const&,                           \
                                         std::vector<real_t<Scalar>> const&);                  \
  template Block<Scalar, Exec> block_for<Scalar, Exec>(std::int64_t, int);
BLOCKSPAN_TEST_EACH(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
