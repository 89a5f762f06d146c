#include "common/problem/problem.hpp"

#include <span>

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

bool stores_hermitian(Communicator const& ranks, std::string const& source) {
  bool result = false;
  ranks.run_agreed([&] {
    if (ranks.rank() > 0) return;
    auto const path = input_file(source);
    if (path != source) return;  // a pipe, which only rank 0 has
    auto const header = read_matrix_market_header(path);
    result = header.symmetry == MatrixMarketSymmetry::hermitian ||
             (header.symmetry == MatrixMarketSymmetry::symmetric &&
              header.field != MatrixMarketField::complex);
  });
  ranks.broadcast(std::span(&result, 1), 0);
  return result;
}

}  // namespace blockspan::apps
