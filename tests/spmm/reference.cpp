#include "spmm/reference.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/extended.hpp"
#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar>
Reference<Scalar> reference_product(Op op, Scalar alpha, HostMatrix<Scalar> const& A,
                                    HostBlock<Scalar> const& X, Scalar beta,
                                    HostBlock<Scalar> const& Y) {
  std::int64_t const rows = transposes(op) ? A.columns : A.rows;
  Reference<Scalar> result(rows, X.columns());
  std::vector<std::int64_t> terms(static_cast<std::size_t>(rows), 3);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.offsets[i]; k < A.offsets[i + 1]; ++k) {
      std::int64_t const row = transposes(op) ? A.indices[k] : i;
      std::int64_t const column = transposes(op) ? i : A.indices[k];
      ++terms[row];
      if (alpha == Scalar(0)) continue;
      auto const a = conjugates(op) ? conjugate(extended(A.values[k])) : extended(A.values[k]);
      for (std::int64_t j = 0; j < X.columns(); ++j) {
        result.value(row, j) += a * extended(X(column, j));
        result.bound(row, j) += std::abs(a) * magnitude(X(column, j));
      }
    }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j) {
      result.value(i, j) *= extended(alpha);
      result.bound(i, j) *= magnitude(alpha);
      if (beta != Scalar(0)) {
        result.value(i, j) += extended(beta) * extended(Y(i, j));
        result.bound(i, j) += magnitude(beta) * magnitude(Y(i, j));
      }
      result.bound(i, j) *= gamma_bound<Scalar>(terms[i]);
    }
  return result;
}

template <class Scalar>
Reference<Scalar> reference_dots(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y) {
  Reference<Scalar> result(1, X.columns());
  for (std::int64_t j = 0; j < X.columns(); ++j) {
    for (std::int64_t i = 0; i < X.rows(); ++i) {
      result.value(0, j) += conjugate(extended(X(i, j))) * extended(Y(i, j));
      result.bound(0, j) += magnitude(X(i, j)) * magnitude(Y(i, j));
    }
    result.bound(0, j) *= gamma_bound<Scalar>(X.rows() + 2);
  }
  return result;
}

#define INSTANTIATE(Scalar)                                                           \
  template Reference<Scalar> reference_product(Op, Scalar, HostMatrix<Scalar> const&, \
                                               HostBlock<Scalar> const&, Scalar,      \
                                               HostBlock<Scalar> const&);             \
  template Reference<Scalar> reference_dots(HostBlock<Scalar> const&, HostBlock<Scalar> const&);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
