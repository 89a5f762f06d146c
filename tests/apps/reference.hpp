#pragma once

#include <complex>
#include <filesystem>
#include <vector>

namespace blockspan::test {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

/// A matrix as the tests read it, by a reader of their own, and multiply it.
struct ReferenceMatrix {
  struct Entry {
    std::size_t row, column;
    Complex value;
  };
  std::size_t rows = 0, columns = 0;
  std::vector<Entry> entries;  ///< symmetric storage expanded

  /// y = A x, summed in extended precision.
  Vector times(Vector const& x) const;
  /// The largest column sum of magnitudes.
  double norm1() const;
  bool is_diagonal() const;
};

/// Reads a coordinate file, plain or gzip, also with late comments and exponents of Fortran.
ReferenceMatrix read_reference(std::filesystem::path const& path);

/// Reads an array file: one vector a column.
std::vector<Vector> read_vectors(std::filesystem::path const& path);

/// The graph of the pattern of A + A^T without its diagonal: its 0/1 adjacency, and D - G.
ReferenceMatrix adjacency_of(ReferenceMatrix const& A);
ReferenceMatrix laplacian_of(ReferenceMatrix const& A);

double norm(Vector const& x);
/// x^H y
Complex dot(Vector const& x, Vector const& y);

/// A x - lambda y
Vector residual(ReferenceMatrix const& A, Vector const& x, double lambda, Vector const& y);

}  // namespace blockspan::test
