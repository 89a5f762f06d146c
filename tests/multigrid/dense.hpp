#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/host/host_csr.hpp>

#include "support/blocks.hpp"

namespace blockspan::test {

// Matrices of a hierarchy as dense blocks on the host.

template <class Scalar>
using wide_t = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;

/// A level's matrix as a dense block in double precision.
template <class Matrix>
auto dense_of(Matrix const& A) {
  auto const host = blockspan::sparse::to_host(A);
  HostBlock<typename Matrix::non_const_value_type> B(A.numRows(), A.numCols());
  for (std::int64_t i = 0; i < B.rows(); ++i)
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k)
      B(i, host.indices(k)) += host.values(k);
  return B;
}

template <class Scalar>
HostBlock<Scalar> times(HostBlock<Scalar> const& A, HostBlock<Scalar> const& B,
                        bool adjoint = false) {
  std::int64_t const rows = adjoint ? A.columns() : A.rows();
  std::int64_t const inner = adjoint ? A.rows() : A.columns();
  HostBlock<Scalar> C(rows, B.columns());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < inner; ++k) {
      Scalar const a = adjoint ? blockspan::conjugate(A(k, i)) : A(i, k);
      if (a == Scalar(0)) continue;
      for (std::int64_t j = 0; j < B.columns(); ++j) C(i, j) += a * B(k, j);
    }
  return C;
}

template <class Scalar>
double largest_difference(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y) {
  double largest = 0;
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j)
      largest = std::max(largest, static_cast<double>(Kokkos::abs(X(i, j) - Y(i, j))));
  return largest;
}

/// A without some weak entries and their mirrors, so that rows of a node have different columns.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> thinned(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  using blockspan::sparse::zeros_on_host;
  auto const all = blockspan::sparse::to_host(A);
  auto const nnz = static_cast<std::int64_t>(A.nnz());
  blockspan::sparse::HostCsr<Scalar, int, int> kept{
      all.rows, all.columns, zeros_on_host<int>("Blockspan::test", all.rows + 1),
      zeros_on_host<int>("Blockspan::test", nnz), zeros_on_host<Scalar>("Blockspan::test", nnz)};
  int place = 0;
  for (std::int64_t i = 0; i < all.rows; ++i) {
    kept.offsets(i) = place;
    for (int k = all.offsets(i); k < all.offsets(i + 1); ++k) {
      auto const j = static_cast<std::int64_t>(all.indices(k));
      if (i != j && (i * j + i + j) % 7 == 0) continue;
      kept.indices(place) = all.indices(k);
      // what is left stays positive definite
      kept.values(place++) = i == j ? Scalar(4) * all.values(k) : all.values(k);
    }
  }
  kept.offsets(all.rows) = place;
  auto const entries = std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(place));
  kept.indices = Kokkos::subview(kept.indices, entries);
  kept.values = Kokkos::subview(kept.values, entries);
  return blockspan::sparse::to_device(exec, kept);
}

}  // namespace blockspan::test
