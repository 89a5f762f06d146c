#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/checks/symmetry_kernels.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// A system whose Dirichlet rows have only a diagonal entry, while other rows still have entries in
/// the columns of these unknowns, as PETSc's MatZeroRows leaves it. With D the unknowns of these
/// rows and I all others,
///
///   [A_II A_ID] [x_I]   [b_I]                          A_II x_I = b_I - A_ID x_D
///   [     d   ] [x_D] = [b_D],   that is x_D = b_D / d,
///
/// which is Hermitian if A_II is. See eliminate_dirichlet.
template <class Scalar, class Exec>
struct DirichletElimination {
  CrsMatrix<Scalar, Exec> matrix;  ///< A without A_ID
  CrsMatrix<Scalar, Exec> kept;    ///< A_ID alone, with the dimensions of A
  /// 1 / d in the rows D whose columns have such entries, zero in all others.
  Kokkos::View<Scalar*, typename CrsMatrix<Scalar, Exec>::device_type> inverse;
  std::int64_t rows = 0;  ///< number of these rows

  /// Y := the known values x_D for right-hand sides B, zero in other rows. Both n x k.
  /// Asynchronous.
  template <class BView, class YView>
  void known(Exec const& exec, BView const& B, YView const& Y) const {
    auto const d = inverse;
    Kokkos::parallel_for(
        "Blockspan::dirichlet: known unknowns", rows_of(exec, B), KOKKOS_LAMBDA(std::int64_t i) {
          for (std::size_t j = 0; j < Y.extent(1); ++j) Y(i, j) = d(i) * B(i, j);
        });
  }
  /// X_D := x_D; other rows are unchanged. Asynchronous.
  template <class BView, class XView>
  void complete(Exec const& exec, BView const& B, XView const& X) const {
    auto const d = inverse;
    Kokkos::parallel_for(
        "Blockspan::dirichlet: complete", rows_of(exec, B), KOKKOS_LAMBDA(std::int64_t i) {
          if (d(i) != Scalar(0))
            for (std::size_t j = 0; j < X.extent(1); ++j) X(i, j) = d(i) * B(i, j);
        });
  }

 private:
  template <class View>
  static auto rows_of(Exec const& exec, View const& X) {
    return support::IndexRange<Exec>(exec, 0, static_cast<std::int64_t>(X.extent(0)));
  }
};

namespace sparse {

/// 1 / d for rows whose only entry is a nonzero diagonal entry d and whose columns have entries in
/// other rows; zero for all others. A: sorted rows. kept: number of those entries.
template <class Scalar, class Offset, class Ordinal>
HostArray<Scalar> dirichlet_inverse(HostCsr<Scalar const, Offset const, Ordinal const> const& A,
                                    std::size_t& kept) {
  auto const inverse = zeros_on_host<Scalar>("Blockspan::dirichlet: inverse", A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    Scalar diagonal = 0;
    bool alone = true;
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p)
      if (A.indices(p) == i)
        diagonal = A.values(p);
      else
        alone = alone && A.values(p) == Scalar(0);
    Scalar const candidate = alone ? Scalar(1) / diagonal : Scalar(0);
    if (Kokkos::isfinite(Kokkos::abs(candidate))) inverse(i) = candidate;
  }
  std::vector<bool> is_read(static_cast<std::size_t>(A.rows));
  kept = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p) {
      std::int64_t const j = A.indices(p);
      if (j == i || inverse(j) == Scalar(0) || A.values(p) == Scalar(0)) continue;
      is_read[static_cast<std::size_t>(j)] = true;
      ++kept;
    }
  for (std::int64_t i = 0; i < A.rows; ++i)
    if (!is_read[static_cast<std::size_t>(i)]) inverse(i) = 0;
  return inverse;
}

}  // namespace sparse

/// Splits a square A that has entries in the columns of its Dirichlet rows (rows whose only entry
/// is a nonzero diagonal entry); nullopt for any other A. Does not check whether `matrix` is
/// Hermitian (see find_asymmetry). On the host, then copied to `exec`, which it fences: O(entries
/// log(row)). Throws Error where A is not square, or memory is short.
template <class Exec, class Matrix>
auto eliminate_dirichlet(Exec const& exec, Matrix const& A) {
  using Scalar = typename Matrix::non_const_value_type;
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  require(A.numRows() == A.numCols(), "eliminate_dirichlet", "the matrix is ", A.numRows(), " x ",
          A.numCols(), ", not square");
  std::optional<DirichletElimination<Scalar, Exec>> result;
  if (A.nnz() == 0) return result;  // perhaps without row offsets
  auto const host = sparse::rows_in_order(sparse::to_host(A));
  std::size_t const entries = static_cast<std::size_t>(host.offsets(host.rows));
  std::size_t kept = 0;
  auto const inverse = sparse::dirichlet_inverse(host, kept);
  if (kept == 0) return result;

  auto const own = sparse::zero_csr<Scalar, Offset, Ordinal>(host.rows, host.rows, entries - kept);
  auto const across = sparse::zero_csr<Scalar, Offset, Ordinal>(host.rows, host.rows, kept);
  result.emplace();
  for (std::int64_t i = 0; i < host.rows; ++i) {
    own.offsets(i + 1) = own.offsets(i), across.offsets(i + 1) = across.offsets(i);
    if (inverse(i) != Scalar(0)) ++result->rows;
    for (Offset p = host.offsets(i); p < host.offsets(i + 1); ++p) {
      std::int64_t const j = host.indices(p);
      bool const is_kept = j != i && inverse(j) != Scalar(0) && host.values(p) != Scalar(0);
      auto const& part = is_kept ? across : own;
      Offset const out = part.offsets(i + 1)++;
      part.indices(out) = host.indices(p);
      part.values(out) = host.values(p);
    }
  }
  result->matrix = sparse::to_device(exec, own);
  result->kept = sparse::to_device(exec, across);
  result->inverse = sparse::array_to_device(exec, inverse);
  exec.fence("Blockspan::eliminate_dirichlet");
  return result;
}

}  // namespace blockspan
