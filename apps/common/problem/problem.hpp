#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "common/files/input_file.hpp"
#include "common/files/words.hpp"

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

/// What the graph of a matrix, whose rows ascend, leaves out of it: weights, directions and loops.
/// Empty: nothing.
template <class Matrix>
std::string left_out_of_graph(Matrix const& A) {
  auto const host = blockspan::sparse::to_host(A);
  using Scalar = typename Matrix::non_const_value_type;
  std::int64_t loops = 0, weights = 0, one_way = 0;
  auto const* const indices = host.indices.data();
  for (std::int64_t i = 0; i < host.rows; ++i)
    for (auto p = host.offsets(i); p < host.offsets(i + 1); ++p) {
      auto const j = host.indices(p);
      loops += i == j;
      if (i == j) continue;
      weights += host.values(p) != Scalar(1);
      one_way += !std::binary_search(indices + host.offsets(j), indices + host.offsets(j + 1), i);
    }
  std::string words;
  auto const say = [&](std::int64_t count, char const* what) {
    if (count > 0) words += (words.empty() ? "" : ", ") + std::string(what) + grouped(count);
  };
  say(weights, "weights other than 1, which count as 1: ");
  say(one_way, "entries without a mirror, which count both ways: ");
  say(loops, "entries of the diagonal, which are left out: ");
  return words;
}

/// The matrix of a problem: the one of `source` itself, or the Laplacian or adjacency of the graph
/// of its pattern, with a note on what that leaves out.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> load_operator(Exec const& exec, std::string const& source,
                                      std::string const& kind, std::vector<std::string>& notes) {
  auto const A = load_matrix<Scalar>(exec, source);
  if (kind != "matrix")
    if (auto const words = left_out_of_graph(A); !words.empty())
      notes.push_back(source + ": --operator " + kind + " is of the pattern alone; " + words);
  if (kind == "laplacian") return graph_laplacian<Scalar>(exec, A);
  if (kind == "adjacency") return adjacency<Scalar>(exec, A);
  return A;
}

/// Whether `source` is a file that all ranks can read and that stores one triangle of a matrix,
/// which is Hermitian then. Rank 0 looks.
bool stores_hermitian(Communicator const& ranks, std::string const& source);

}  // namespace blockspan::apps
