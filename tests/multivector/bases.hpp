#pragma once

#include <vector>

#include "multivector/references.hpp"

// What tests of orthonormalization judge by, in extended precision and independent of the library.

namespace blockspan::test {

/// max |V^H W - I| over the leading `rank` columns.
template <class Scalar>
long double distance_from_identity(HostBlock<Scalar> const& V, HostBlock<Scalar> const& W,
                                   int rank);

/// The largest distance of a column of X from the span of the leading `rank` columns of V, which
/// are orthonormal to rounding, relative to the column's length.
template <class Scalar>
long double distance_from_span(HostBlock<Scalar> const& X, HostBlock<Scalar> const& V, int rank);

/// Columns 1 + e on the diagonal below a row of ones (Lauchli 1961): all at a distance of about e
/// from each other; the condition number is about sqrt(k) / e.
template <class Scalar>
HostBlock<Scalar> lauchli(int n, int k, double e) {
  HostBlock<Scalar> X(n, k);
  for (int j = 0; j < k; ++j) {
    X(0, j) = Scalar(1);
    X(j + 1, j) = Scalar(real_t<Scalar>(e));
  }
  return X;
}

/// Random columns, each a small step from the one before.
template <class Scalar>
HostBlock<Scalar> nearly_dependent(int n, int k, double step) {
  auto X = random_block<Scalar>(n, k, 77);
  for (int j = 1; j < k; ++j)
    for (int i = 0; i < n; ++i) X(i, j) = X(i, j - 1) + real_t<Scalar>(step) * X(i, j);
  return X;
}

/// Column `to` becomes `factor` times column `from`.
template <class Scalar>
void set_column(HostBlock<Scalar>& X, int to, int from, real_t<Scalar> factor) {
  for (std::int64_t i = 0; i < X.rows(); ++i) X(i, to) = factor * X(i, from);
}

/// The columns named.
template <class Scalar>
HostBlock<Scalar> some_columns(HostBlock<Scalar> const& X, std::vector<int> const& columns) {
  HostBlock<Scalar> Y(X.rows(), static_cast<std::int64_t>(columns.size()));
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < Y.columns(); ++j)
      Y(i, j) = X(i, columns[static_cast<std::size_t>(j)]);
  return Y;
}

}  // namespace blockspan::test
