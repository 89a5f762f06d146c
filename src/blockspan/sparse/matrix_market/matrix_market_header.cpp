#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <blockspan/sparse/matrix_market/matrix_market_entries.hpp>

namespace blockspan::sparse {

namespace {

std::string lower_case(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

template <class Value, std::size_t n>
using Words = std::array<std::pair<char const*, Value>, n>;

// with and without the byte order mark that some editors put before UTF-8
constexpr Words<char, 2> banners{{{"%%matrixmarket", 0}, {"\xef\xbb\xbf%%matrixmarket", 0}}};
constexpr Words<char, 1> objects{{{"matrix", 0}}};
constexpr Words<MatrixMarketFormat, 2> formats{
    {{"coordinate", MatrixMarketFormat::coordinate}, {"array", MatrixMarketFormat::array}}};
constexpr Words<MatrixMarketField, 5> fields{{{"real", MatrixMarketField::real},
                                              {"double", MatrixMarketField::real},
                                              {"integer", MatrixMarketField::integer},
                                              {"complex", MatrixMarketField::complex},
                                              {"pattern", MatrixMarketField::pattern}}};
constexpr Words<MatrixMarketSymmetry, 4> symmetries{
    {{"general", MatrixMarketSymmetry::general},
     {"symmetric", MatrixMarketSymmetry::symmetric},
     {"skew-symmetric", MatrixMarketSymmetry::skew_symmetric},
     {"hermitian", MatrixMarketSymmetry::hermitian}}};

/// The meaning of the next word, which must be one of `words`.
template <class Value, std::size_t n>
Value choose(TextCursor& cursor, Words<Value, n> const& words, char const* expected) {
  cursor.skip_blanks();
  char const* const token = cursor.position();
  std::string const word = lower_case(cursor.word());
  for (auto const& [name, value] : words)
    if (word == name) return value;
  cursor.fail(token, expected);
}

/// What else a file may be, by the bytes at one of its places, and what makes it readable. Archives
/// are found inside gzip too.
struct Container {
  std::string_view magic;
  std::size_t place;
  char const* name;
  char const* remedy;
};
using namespace std::string_view_literals;
constexpr std::array<Container, 8> containers{
    {{"BZh"sv, 0, "a file compressed by bzip2", "bunzip2"},
     {"\xfd\x37zXZ\0"sv, 0, "a file compressed by xz", "unxz"},
     {"\x28\xb5\x2f\xfd"sv, 0, "a file compressed by zstd", "unzstd"},
     {"\x04\x22\x4d\x18"sv, 0, "a file compressed by lz4", "unlz4"},
     {"\x1f\x9d"sv, 0, "a file compressed by compress", "uncompress"},
     {"7z\xbc\xaf\x27\x1c"sv, 0, "a 7z archive", "7z x"},
     {"PK\x03\x04"sv, 0, "a zip archive", "unzip"},
     {"ustar"sv, 257, "a tar archive", "tar -xf"}}};

/// Throws where the text is that of no file that is read.
void require_plain(std::string const& path, TextChunk const& chunk) {
  std::string_view const text(chunk.begin, static_cast<std::size_t>(chunk.end - chunk.begin));
  for (auto const& [magic, place, name, remedy] : containers)
    if (text.size() > place && text.substr(place, magic.size()) == magic)
      throw MatrixMarketError(
          path, 0, 0,
          std::string("plain text or gzip, as only gzip is inflated here (unpack it by ") + remedy +
              " first)",
          name);
}

void parse_banner(TextCursor& cursor, ParsedHeader& header) {
  choose(cursor, banners, "%%MatrixMarket");
  choose(cursor, objects, "matrix");
  header.format = choose(cursor, formats, "coordinate or array");
  cursor.skip_blanks();
  char const* const field = cursor.position();
  header.field_column = cursor.column(field);
  header.field = choose(cursor, fields, "real, double, integer, complex or pattern");
  if (header.format == MatrixMarketFormat::array && header.field == MatrixMarketField::pattern)
    cursor.fail(field, "real, double, integer or complex, as arrays have values");
  cursor.skip_blanks();
  char const* const symmetry = cursor.position();
  header.symmetry = choose(cursor, symmetries, "general, symmetric, skew-symmetric or Hermitian");
  if (header.symmetry == MatrixMarketSymmetry::skew_symmetric &&
      header.field == MatrixMarketField::pattern)
    cursor.fail(symmetry, "general or symmetric, as the field is pattern");
  if (header.symmetry == MatrixMarketSymmetry::hermitian &&
      header.field != MatrixMarketField::complex)
    header.symmetry = MatrixMarketSymmetry::symmetric;  // without imaginary parts the same
  cursor.skip_line();
}

/// Number of values of an array file; none if it exceeds 64 bits.
std::optional<std::int64_t> array_values(MatrixMarketHeader const& header) {
  std::int64_t values = 0;
  if (__builtin_mul_overflow(header.rows, header.columns, &values)) return std::nullopt;
  if (header.symmetry == MatrixMarketSymmetry::general) return values;
  bool const skew = header.symmetry == MatrixMarketSymmetry::skew_symmetric;
  return (values - header.rows) / 2 + (skew ? 0 : header.rows);
}

constexpr std::int64_t largest_count = no_limit - 1;  // the limit itself means anything larger

void parse_size(TextCursor& cursor, ParsedHeader& header) {
  auto const place = [&](std::int64_t& column) {
    cursor.skip_blanks();
    column = cursor.column(cursor.position());
    return cursor.position();
  };
  header.size_line = cursor.line();
  place(header.rows_column);
  header.rows = cursor.integer(0, largest_count, "the number of rows");
  char const* const columns = place(header.columns_column);
  header.columns = cursor.integer(0, largest_count, "the number of columns");
  if (header.symmetry != MatrixMarketSymmetry::general && header.columns != header.rows)
    cursor.fail(columns, "as many columns as rows, as the matrix is " +
                             std::string(to_string(header.symmetry)));
  if (header.format == MatrixMarketFormat::coordinate) {
    place(header.entries_column);
    header.entries = cursor.integer(0, largest_count, "the number of entries");
  } else if (auto const values = array_values(header)) {
    header.entries_column = header.columns_column;
    header.entries = *values;
  } else {
    cursor.fail(columns, "fewer than 2^63 values");
  }
  cursor.finish_line();
}

}  // namespace

ParsedHeader parse_header(TextSource& source) {
  ParsedHeader header;
  bool banner_parsed = false;
  for (TextChunk chunk; source.next(chunk);) {
    TextCursor cursor(source.path(), chunk);
    if (!banner_parsed) {
      require_plain(source.path(), chunk);
      parse_banner(cursor, header);
    }
    banner_parsed = true;
    if (cursor.next_data_line()) {
      parse_size(cursor, header);
      header.body_position += cursor.position() - chunk.begin;
      source.restart(header.body_position, cursor.line());
      return header;
    }
    header.body_position += chunk.end - chunk.begin;
  }
  throw MatrixMarketError(source.path(), source.line(), 1,
                          banner_parsed ? "the size of the matrix" : "%%MatrixMarket",
                          "end of file");
}

}  // namespace blockspan::sparse
