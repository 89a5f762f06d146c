#pragma once

#include <cstdint>
#include <vector>

#include <blockspan/spmm/op.hpp>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/extended.hpp"

namespace blockspan::test {

/// alpha op(A) X + beta Y in extended precision, with the bound of theory: an element's error is at
/// most gamma_m (|alpha| |A| |X| + |beta| |Y|), m = entries of its row + 3 (Higham 2002, section
/// 3.1). With beta = 0, Y is not looked at; with alpha = 0, X is not.
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

}  // namespace blockspan::test
