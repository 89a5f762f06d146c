#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/registers/sixteen_bit.hpp>

namespace blockspan::sparse {

/// The sparsity pattern of a compressed-row matrix, in the form that compiled kernels use. block >
/// 1: an entry is a dense block of block x block values, row-major, and rows and columns are block
/// rows and block columns.
template <class Offset, class Ordinal>
struct PatternRef {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t entries;           ///< length of the array of columns
  Offset const* row_offsets;      ///< rows + 1; may be null if there are no rows
  Ordinal const* column_indices;  ///< entries
  std::int64_t block = 1;

  std::int64_t vector_rows() const { return rows * block; }        ///< of Y
  std::int64_t vector_columns() const { return columns * block; }  ///< rows of X
};

/// A pattern whose row offsets are an untyped pointer.
template <class Offset, class Ordinal>
PatternRef<void, Ordinal> without_offset_type(PatternRef<Offset, Ordinal> const& A) {
  return {A.rows, A.columns, A.entries, A.row_offsets, A.column_indices, A.block};
}

template <class Scalar, class Offset, class Ordinal>
struct MatrixRef {
  PatternRef<Offset, Ordinal> pattern;
  Scalar const* values;  ///< entries x block x block
};

template <class Matrix>
using offset_t = std::remove_const_t<typename Matrix::non_const_size_type>;
template <class Matrix>
using ordinal_t = std::remove_const_t<typename Matrix::non_const_ordinal_type>;
template <class Matrix>
using scalar_t = std::remove_const_t<typename Matrix::non_const_value_type>;
/// The scalar type of products with it: that of its values, or float for 16-bit values.
template <class Matrix>
using multiplier_t = computed_t<scalar_t<Matrix>>;

/// True for KokkosSparse::Experimental::BsrMatrix.
template <class Matrix>
inline constexpr bool has_blocks_v = requires(Matrix const& A) {
  A.blockDim();
};

/// The pattern of a CrsMatrix, or of a BsrMatrix, which only products support.
template <class Exec, class Matrix>
PatternRef<offset_t<Matrix>, ordinal_t<Matrix>> product_pattern_ref(Matrix const& A) {
  static_assert(Kokkos::SpaceAccessibility<Exec, typename Matrix::memory_space>::accessible,
                "the matrix must live where the execution space can access it");
  PatternRef<offset_t<Matrix>, ordinal_t<Matrix>> pattern{
      static_cast<std::int64_t>(A.numRows()), static_cast<std::int64_t>(A.numCols()),
      static_cast<std::int64_t>(A.graph.entries.extent(0)), A.graph.row_map.data(),
      A.graph.entries.data()};
  if constexpr (has_blocks_v<Matrix>) pattern.block = static_cast<std::int64_t>(A.blockDim());
  return pattern;
}

template <class Exec, class Matrix>
MatrixRef<scalar_t<Matrix>, offset_t<Matrix>, ordinal_t<Matrix>> product_matrix_ref(
    Matrix const& A) {
  return {product_pattern_ref<Exec>(A), A.values.data()};
}

/// The matrix as an argument of a planned product; the plan stores the type of the row offsets.
template <class Exec, class Matrix>
MatrixRef<scalar_t<Matrix>, void, ordinal_t<Matrix>> planned_matrix_ref(Matrix const& A) {
  return {without_offset_type(product_pattern_ref<Exec>(A)), A.values.data()};
}

template <class Exec, class Matrix>
MatrixRef<scalar_t<Matrix>, offset_t<Matrix>, ordinal_t<Matrix>> matrix_ref(Matrix const& A) {
  static_assert(!has_blocks_v<Matrix>, "only products take a BsrMatrix");
  return product_matrix_ref<Exec>(A);
}

template <class Exec, class Matrix>
PatternRef<offset_t<Matrix>, ordinal_t<Matrix>> pattern_ref(Matrix const& A) {
  return matrix_ref<Exec>(A).pattern;
}

}  // namespace blockspan::sparse
