#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::distributed {

/// Rows of a block by their indices, and the contiguous memory they are packed into.
template <class Scalar>
struct PackedRows {
  int const* rows;
  std::int64_t count;
  Scalar* packed;
};

/// packed(p, :) = X(rows[p], :) for both lists. Asynchronous. Compiled once per backend and scalar
/// (pack_rows_impl.hpp).
template <class Exec, class Scalar>
void pack_rows(Exec const& exec, BlockRef<Scalar const> const& X, PackedRows<Scalar> const& first,
               PackedRows<Scalar> const& second);

/// Y(rows[p], :) += packed(p, :); rows are distinct. Asynchronous. Compiled like pack_rows.
template <class Exec, class Scalar>
void add_rows(Exec const& exec, Scalar const* packed, int const* rows, std::int64_t count,
              BlockRef<Scalar> const& Y);

/// The local rows from `first` on. Their columns are local rows, or (`from` not null) indices into
/// a packed block, of which [lower, lower + own) are the local rows from[0], from[1], ...
template <class Scalar>
struct RowsOfRank {
  std::int64_t first;
  MatrixRef<Scalar, int, int> A;
  int const* from;
  int lower, own;

  /// The local row of the k-th entry's column; -1 if another rank owns it.
  KOKKOS_FORCEINLINE_FUNCTION int column(int k) const {
    int const column = A.pattern.column_indices[k];
    if (from == nullptr) return column;
    return column >= lower && column < lower + own ? from[column - lower] : -1;
  }
};

/// The square matrix, with `rows` rows, of the entries in local columns. Fences the instance.
/// Compiled like pack_rows.
template <class Exec, class Scalar>
CrsMatrix<Scalar, Exec> local_columns(Exec const& exec,
                                      std::array<RowsOfRank<Scalar>, 3> const& parts,
                                      std::int64_t rows);

/// 1 for local rows with entries in columns of other ranks, else 0; `rows` values. Fences the
/// instance. Compiled like pack_rows.
template <class Exec, class Scalar>
Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>> cut_rows(
    Exec const& exec, std::array<RowsOfRank<Scalar>, 3> const& parts, std::int64_t rows);

/// A matrix split by columns.
template <class Scalar, class Exec>
struct ColumnsOfRank {
  CrsMatrix<Scalar, Exec> own;     ///< columns of this rank, numbered from its first one
  CrsMatrix<Scalar, Exec> across;  ///< all other columns, with global numbers
};
/// own: columns [begin, end). Rows keep the order of their entries. Fences the instance. O(rows +
/// nonzeros). Compiled like pack_rows.
template <class Exec, class Scalar>
ColumnsOfRank<Scalar, Exec> split_columns(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                          int begin, int end);

/// Facts computed from the entries of some rows.
template <class Real>
struct FactsOfRows {
  RowBounds<Real> bounds;
  bool annihilates_constants = true;
  std::vector<Real> diagonal;  ///< real parts
};
/// Fences the instance. Compiled like pack_rows.
template <class Exec, class Scalar>
FactsOfRows<real_t<Scalar>> facts_of_rows(Exec const& exec, RowsOfRank<Scalar> const& rows);

/// The measures of W A over the local rows, for weights W of all of them. Fences the instance.
/// Compiled like pack_rows.
template <class Exec, class Scalar>
operators::RowMeasures<Scalar> measure_parts(Exec const& exec,
                                             std::array<RowsOfRank<Scalar>, 3> const& parts,
                                             real_t<Scalar> const* weights);

/// Rows [first, last) of A, sharing its columns and values. Fences the instance. Compiled like
/// pack_rows.
template <class Exec, class Scalar>
CrsMatrix<Scalar, Exec> rows_between(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                     std::int64_t first, std::int64_t last);

/// Packs entry j of row p.
template <class Scalar>
struct PackRows {
  BlockRef<Scalar const> X;
  PackedRows<Scalar> first, second;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t p, std::int64_t j) const {
    auto const& list = p < first.count ? first : second;
    std::int64_t const place = p < first.count ? p : p - first.count;
    list.packed[place * X.columns + j] = X(list.rows[place], j);
  }
};
template <class Scalar>
struct AddRows {
  Scalar const* packed;
  int const* rows;
  BlockRef<Scalar> Y;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t p, std::int64_t j) const {
    Y(rows[p], j) += packed[p * Y.columns + j];
  }
};

template <class Scalar>
struct TakeRealParts {
  Scalar const* from;
  real_t<Scalar>* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = real_part(from[i]); }
};

}  // namespace blockspan::distributed
