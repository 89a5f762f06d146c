#include <sstream>
#include <utility>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/matrix_market/matrix_market_entries.hpp>

namespace blockspan {

namespace {

std::string describe(std::string const& file, std::int64_t line, std::int64_t column,
                     std::string const& expected, std::string const& token) {
  std::ostringstream message;
  message << file;
  if (line > 0) message << ':' << line << ':' << column;
  message << ": expected " << expected << ", found '" << token << "'";
  return message.str();
}

}  // namespace

MatrixMarketError::MatrixMarketError(std::string file_, std::int64_t line_, std::int64_t column_,
                                     std::string expected_, std::string token_)
    : Error(describe(file_, line_, column_, expected_, token_)),
      file(std::move(file_)),
      line(line_),
      column(column_),
      expected(std::move(expected_)),
      token(std::move(token_)) {}

char const* to_string(MatrixMarketFormat format) {
  return format == MatrixMarketFormat::coordinate ? "coordinate" : "array";
}

char const* to_string(MatrixMarketField field) {
  switch (field) {
    case MatrixMarketField::integer:
      return "integer";
    case MatrixMarketField::complex:
      return "complex";
    case MatrixMarketField::pattern:
      return "pattern";
    default:
      return "real";
  }
}

char const* to_string(MatrixMarketSymmetry symmetry) {
  switch (symmetry) {
    case MatrixMarketSymmetry::symmetric:
      return "symmetric";
    case MatrixMarketSymmetry::skew_symmetric:
      return "skew-symmetric";
    case MatrixMarketSymmetry::hermitian:
      return "hermitian";
    default:
      return "general";
  }
}

MatrixMarketHeader read_matrix_market_header(std::string const& path) {
  sparse::TextSource source(path);
  return sparse::parse_header(source);
}

}  // namespace blockspan
