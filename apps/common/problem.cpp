#include "common/problem.hpp"

#include <blockspan/support/error.hpp>

namespace blockspan::apps {

SourceInfo inspect_source(std::string const& source) {
  if (is_generator_spec(source)) {
    GeneratorSpec const spec = parse_generator_spec(source);
    return {spec.rows, spec.columns, false};
  }
  MatrixMarketHeader const header = read_matrix_market_header(input_file(source));
  return {header.rows, header.columns, header.field == MatrixMarketField::complex};
}

SourceInfo inspect_square_source(std::string const& source) {
  SourceInfo const info = inspect_source(source);
  require(info.rows == info.columns, source, "a square matrix is needed, this one is ", info.rows,
          " x ", info.columns);
  return info;
}

}  // namespace blockspan::apps
