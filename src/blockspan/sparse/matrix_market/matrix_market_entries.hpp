#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/matrix_market/matrix_market_cursor.hpp>

namespace blockspan::sparse {

/// The header and the positions of its parts in the file.
struct ParsedHeader : MatrixMarketHeader {
  std::int64_t field_column = 0;  ///< of the field's word, in line 1
  std::int64_t size_line = 0;
  std::int64_t rows_column = 0;
  std::int64_t columns_column = 0;
  std::int64_t entries_column = 0;  ///< coordinate files
  std::int64_t body_position = 0;   ///< first byte after the size line
};

/// Parses banner and size line and leaves `source` behind them. Throws MatrixMarketError.
ParsedHeader parse_header(TextSource& source);

/// A value of the file; zero imaginary part unless the field is complex.
template <class Real>
struct FileValue {
  Real real = 1;
  Real imaginary = 0;
};

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// `diagonal` of a Hermitian matrix: must be real, to rounding.
template <class Real>
FileValue<Real> parse_value(TextCursor& cursor, MatrixMarketHeader const& header, bool diagonal) {
  FileValue<Real> value;
  if (header.field == MatrixMarketField::pattern) return value;
  value.real = cursor.number<Real>(header.field == MatrixMarketField::integer);
  if (header.field != MatrixMarketField::complex) return value;
  cursor.skip_blanks();
  char const* const token = cursor.position();
  value.imaginary = cursor.number<Real>(false);
  Real const rounding = 4 * std::numeric_limits<Real>::epsilon() * std::abs(value.real);
  if (diagonal && header.symmetry == MatrixMarketSymmetry::hermitian &&
      std::abs(value.imaginary) > rounding)
    cursor.fail(token, "a zero imaginary part on the diagonal of a Hermitian matrix");
  return value;
}

/// More entries than the size line says end the reading at the first one too many.
inline void check_limit(TextCursor const& cursor, std::int64_t count, std::int64_t limit) {
  if (count == limit) [[unlikely]]
    cursor.fail(cursor.position(),
                "the end of the file after " + std::to_string(limit) + " entries");
}

/// Calls sink(row, column, value, cursor) with 0-based indices for every entry of a coordinate
/// file's chunk, which begins with entry number `index` of at most `limit`, and returns their
/// number. Without values it is sink(row, column), and the rest of each line is left unread.
template <class Real, bool with_values, class Sink>
std::int64_t parse_coordinates(std::string const& path, TextChunk const& chunk,
                               MatrixMarketHeader const& header, std::int64_t index,
                               std::int64_t limit, Sink&& sink) {
  TextCursor cursor(path, chunk);
  bool const skew = header.symmetry == MatrixMarketSymmetry::skew_symmetric;
  std::int64_t count = 0;
  for (; cursor.next_data_line(); ++count) {
    check_limit(cursor, index + count, limit);
    char const* const first = cursor.position();
    auto const row = cursor.integer(1, header.rows, "a row index") - 1;
    auto const column = cursor.integer(1, header.columns, "a column index") - 1;
    if (skew && row == column) cursor.fail(first, "no diagonal entry in a skew-symmetric matrix");
    if constexpr (with_values) {
      auto const value = parse_value<Real>(cursor, header, row == column);
      sink(row, column, value, cursor);
      cursor.finish_line();
    } else {
      sink(row, column);
      cursor.skip_line();
    }
  }
  return count;
}

/// Where the values of an array file belong: column by column, the lower triangle only if
/// symmetric, without its diagonal if skew-symmetric.
struct ArrayPosition {
  ArrayPosition(MatrixMarketHeader const& header, std::int64_t index)
      : rows(header.rows),
        packed(header.symmetry != MatrixMarketSymmetry::general),
        skew(header.symmetry == MatrixMarketSymmetry::skew_symmetric) {
    if (!packed) {
      column = rows > 0 ? index / rows : 0;
      row = rows > 0 ? index % rows : 0;
      return;
    }
    for (; column < rows && index >= rows - first_row(); ++column) index -= rows - first_row();
    row = first_row() + index;
  }

  void advance() {
    if (++row < rows) return;
    ++column;
    row = first_row();
  }

  std::int64_t first_row() const { return packed ? column + (skew ? 1 : 0) : 0; }

  std::int64_t rows;
  bool packed;
  bool skew;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// The same for an array file, whose chunk begins with value number `index` of the file.
template <class Real, class Sink>
std::int64_t parse_array(std::string const& path, TextChunk const& chunk,
                         MatrixMarketHeader const& header, std::int64_t index, std::int64_t limit,
                         Sink&& sink) {
  TextCursor cursor(path, chunk);
  ArrayPosition position(header, index);
  std::int64_t count = 0;
  for (; cursor.next_data_line(); ++count) {
    check_limit(cursor, index + count, limit);
    auto const value = parse_value<Real>(cursor, header, position.row == position.column);
    sink(position.row, position.column, value, cursor);
    cursor.finish_line();
    position.advance();
  }
  return count;
}

}  // namespace blockspan::sparse
