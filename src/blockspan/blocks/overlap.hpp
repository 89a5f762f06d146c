#pragma once

#include <cstdint>

#include <blockspan/blocks/block.hpp>

// Which elements of blocks share memory.

namespace blockspan::blocks {

/// True if no two elements of X share memory: its rows, or its columns, lie one behind the other.
template <class Scalar>
bool has_distinct_elements(BlockRef<Scalar> const& X) {
  std::int64_t const rows = X.rows, columns = X.columns;
  if (rows == 0 || columns == 0) return true;
  bool const rows_apart = rows < 2 || X.row_stride > (columns - 1) * X.column_stride;
  bool const columns_apart = columns < 2 || X.column_stride > (rows - 1) * X.row_stride;
  bool const no_zero = (rows < 2 || X.row_stride > 0) && (columns < 2 || X.column_stride > 0);
  return no_zero && (rows_apart || columns_apart);
}

/// True if two blocks may share an element. Exact for two blocks with the same strides (as two
/// ranges of columns, or of rows, of one block have); where the strides differ, blocks whose
/// address ranges intersect count as overlapping.
template <class Scalar>
bool may_overlap(BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y) {
  if (X.rows * X.columns == 0 || Y.rows * Y.columns == 0) return false;
  auto const last = [](auto const& B) {
    return B.data + (B.rows - 1) * B.row_stride + (B.columns - 1) * B.column_stride;
  };
  if (last(X) < Y.data || last(Y) < X.data) return false;
  if (X.row_stride != Y.row_stride || X.column_stride != Y.column_stride) return true;
  bool const by_rows = X.row_stride >= X.column_stride;  // rows far apart, columns near
  std::int64_t const far = by_rows ? X.row_stride : X.column_stride;
  std::int64_t const near = by_rows ? X.column_stride : X.row_stride;
  if (near == 0 || far % near != 0) return true;
  std::int64_t const x_length = by_rows ? X.columns : X.rows;
  std::int64_t const y_length = by_rows ? Y.columns : Y.rows;
  std::int64_t const distance = Y.data - X.data;
  std::int64_t shift = distance % far;  // from a line of X to the begin of a line of Y
  if (shift < 0) shift += far;
  if (shift % near != 0) return false;
  return shift / near < x_length || shift / near + y_length > far / near;
}

}  // namespace blockspan::blocks
