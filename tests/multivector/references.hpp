#pragma once

#include "support/compare.hpp"

namespace blockspan::test {

/// Columns of blocks around the widths of vector registers and of tiles.
inline constexpr int block_widths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                       13, 14, 15, 16, 17, 24, 31, 32, 33, 47, 48, 96};

/// |X|^H |Y| style sums: value = x^H y and the sum of magnitudes.
template <class Scalar>
Reference<Scalar> gram_reference(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y) {
  Reference<Scalar> G(X.columns(), Y.columns());
  for (std::int64_t r = 0; r < X.rows(); ++r)
    for (std::int64_t i = 0; i < X.columns(); ++i) {
      auto const x = conjugate(extended(X(r, i)));
      auto const size = std::abs(x);
      for (std::int64_t j = 0; j < Y.columns(); ++j) {
        auto const y = extended(Y(r, j));
        G.value(i, j) += x * y;
        G.bound(i, j) += size * std::abs(y);
      }
    }
  // Chunks and their sum: every product is rounded once and passes at most n + 2 additions.
  for (auto& bound : G.bounds) bound *= gamma_bound<Scalar>(X.rows() + 2);
  return G;
}

/// alpha X C + beta Y.
template <class Scalar>
Reference<Scalar> combine_reference(Scalar alpha, HostBlock<Scalar> const& X,
                                    HostBlock<Scalar> const& C, Scalar beta,
                                    HostBlock<Scalar> const& Y) {
  Reference<Scalar> R(X.rows(), C.columns());
  bool const add = beta != Scalar(0);
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < C.columns(); ++j) {
      extended_t<Scalar> sum = 0;
      long double sizes = 0;
      for (std::int64_t l = 0; l < X.columns(); ++l) {
        auto const x = extended(X(i, l)), c = extended(C(l, j));
        sum += x * c;
        sizes += std::abs(x) * std::abs(c);
      }
      R.value(i, j) = extended(alpha) * sum;
      R.bound(i, j) = magnitude(alpha) * sizes;
      if (add) R.value(i, j) += extended(beta) * extended(Y(i, j));
      if (add) R.bound(i, j) += magnitude(beta) * magnitude(Y(i, j));
    }
  for (auto& bound : R.bounds) bound *= gamma_bound<Scalar>(X.columns() + 3);
  return R;
}

/// A small matrix where tests want it: rank-2 view in `Space`, `Layout`.
template <class Layout, class Space, class Scalar>
Kokkos::View<Scalar**, Layout, Space> small_matrix(HostBlock<Scalar> const& values) {
  Kokkos::View<Scalar**, Layout, Space> A("Blockspan::test", values.rows(), values.columns());
  auto const host = Kokkos::create_mirror_view(A);
  for (std::int64_t i = 0; i < values.rows(); ++i)
    for (std::int64_t j = 0; j < values.columns(); ++j) host(i, j) = values(i, j);
  Kokkos::deep_copy(A, host);
  return A;
}

/// The values of a rank-2 view, wherever it lives.
template <class View>
HostBlock<typename View::non_const_value_type> fetch(View const& A) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
  HostBlock<typename View::non_const_value_type> values(static_cast<std::int64_t>(A.extent(0)),
                                                        static_cast<std::int64_t>(A.extent(1)));
  for (std::int64_t i = 0; i < values.rows(); ++i)
    for (std::int64_t j = 0; j < values.columns(); ++j) values(i, j) = host(i, j);
  return values;
}

}  // namespace blockspan::test
