#pragma once

#include <cstdint>
#include <string>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "common/input_file.hpp"

namespace blockspan::apps {

/// What can be known of a matrix before it is read or made.
struct SourceInfo {
  std::int64_t rows, columns;
  bool complex;
};

/// Looks at `source`: the first lines of a Matrix Market file, or a generator spec. Throws Error
/// where there is no such file, or where its first lines or the spec are wrong.
SourceInfo inspect_source(std::string const& source);

/// The same, and throws Error unless the matrix is square.
SourceInfo inspect_square_source(std::string const& source);

/// The matrix that `source`, a Matrix Market file or a generator spec, describes.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> load_matrix(Exec const& exec, std::string const& source) {
  if (is_generator_spec(source)) return generate<Scalar>(exec, source);
  return read_matrix_market<Scalar>(exec, input_file(source));
}

/// The matrix of a problem: the one of `source` itself, or the Laplacian or adjacency of the graph
/// of its pattern.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> load_operator(Exec const& exec, std::string const& source,
                                      std::string const& kind) {
  auto const A = load_matrix<Scalar>(exec, source);
  if (kind == "laplacian") return graph_laplacian<Scalar>(exec, A);
  if (kind == "adjacency") return adjacency<Scalar>(exec, A);
  return A;
}

/// Whether `source` is a file that all ranks can read and that stores one triangle of a matrix,
/// which is Hermitian then. Rank 0 looks.
bool stores_hermitian(Communicator const& ranks, std::string const& source);

}  // namespace blockspan::apps
