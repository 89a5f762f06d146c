#pragma once

#include "support/compare.hpp"

namespace blockspan::test {

/// Columns of blocks around the widths of vector registers and of tiles.
inline constexpr int block_widths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                       13, 14, 15, 16, 17, 24, 31, 32, 33, 47, 48, 96};

/// |X|^H |Y| style sums: value = x^H y and the sum of magnitudes.
template <class Scalar>
Reference<Scalar> gram_reference(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y);

/// alpha X C + beta Y.
template <class Scalar>
Reference<Scalar> combine_reference(Scalar alpha, HostBlock<Scalar> const& X,
                                    HostBlock<Scalar> const& C, Scalar beta,
                                    HostBlock<Scalar> const& Y);

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
