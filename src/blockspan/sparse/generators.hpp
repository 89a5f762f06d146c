#pragma once

#include <cstdint>
#include <string_view>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/generator_spec.hpp>

namespace blockspan {

/// Whether rows of the matrix can be generated independently: not for rmat, attachment, saddle,
/// `symmetric` and `permute`.
inline bool knows_rows(GeneratorSpec const& spec) {
  return spec.name != "rmat" && !spec.symmetric && !spec.permuted;
}

/// Rows [first, last) of the matrix of generate(), with all its columns. Throws Error like
/// generate(), and for a part of the rows if !knows_rows(spec).
template <class Scalar, class Exec, class Offset = int>
CrsMatrix<Scalar, Exec, Offset> generate_rows(Exec const& exec, GeneratorSpec const& spec,
                                              std::int64_t first, std::int64_t last);

/// Generates the matrix of a spec (see GeneratorSpec and generator_help()) on the device.
///
/// Columns within a row are distinct and ascending. Structure and values are bit-identical on every
/// backend: pseudo-random values are integer hashes of (seed, row, column), values are derived from
/// them by exact operations, from tables computed on the host, or from integers by one correctly
/// rounded division; there are no atomics. (The row lengths of powerlaw and lognormal come from a
/// table computed by the host's pow and erfc: the same on all backends of a machine.) The float
/// matrix is the double matrix, each entry rounded. Complex scalars: grids and elasticity are real;
/// random values have real and imaginary parts, and `symmetric` means Hermitian.
///
/// - Grids: Dirichlet boundaries, x fastest. laplace5 4/-1, laplace7 6/-1, laplace27 26/-1. aniso7
///   has -eps on the faces of each axis. jump7: cubes of `width` points an edge, each with
///   coefficient 1 or CONTRAST, chosen at random; faces have the harmonic mean.
/// - elasticity, elasticity-mass: 8-node bricks on the unit cube, N nodes an edge, E = 1, nu = 0.3,
///   density 1, 3 unknowns a node, interleaved, x fastest. Clamped at x = 0 (those unknowns are
///   removed) unless `free`. Each entry is the exact entry of the finite-element matrix, rounded
///   once; entries of a node's 3 x 3 blocks are stored even where they are zero.
/// - p1, p1-mass: linear elements on tetrahedra of the unit cube, N nodes an edge, interior nodes
///   moved by up to an eighth of the spacing; x fastest; the nodes of x = 0 are removed unless
///   `free`. The contribution of an element is a quotient of integers. generate_coordinates
///   (coordinates.hpp) returns the positions of the nodes.
/// - star: minus the Laplacian by central differences of order 2 REACH, spacing 1, Dirichlet.
/// - spins: H = sum of S_s . S_(s+1) on a ring of SITES spins 1/2, bit s of the row is spin s; all
///   sectors of the magnetization. Exact values; symmetric, indefinite.
/// - queues: generator of a Markov chain, the first queue fastest; arrivals at rate 1, services at
///   rate 5/4, a customer is blocked while the next queue is full. Rows sum to zero.
/// - Random rows: column j of the d columns of a row is drawn from the j-th of d equal parts of the
///   column range (stratified sampling: exact counts, distinct and ascending without a sort).
/// - rmat: Chakrabarti, Zhan, Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004,
///   doi:10.1137/1.9781611972740.43. EDGEFACTOR * 2^SCALE edges, duplicates kept once.
/// - wells, circuit: LONG long rows, one in each of LONG equal parts of the rows, have LENGTH
///   additional columns, drawn as in random rows; duplicates are kept once. The other entries of
///   circuit are the diagonal and between 0 and 2 MEAN columns at distances d with
///   P(distance >= d) = 1 / d; those outside the matrix are dropped.
/// - lognormal: length = ceil(s e^(SIGMA z)), z normal, at most `max`; s is chosen for the mean.
/// - attachment: each vertex has M edges to older vertices (or to itself), drawn with probabilities
///   proportional to their degrees, duplicates kept once: Sanders, Schulz, "Scalable generation of
///   scale-free graphs", Inf. Process. Lett. 116 (2016), doi:10.1016/j.ipl.2016.02.004. With the
///   diagonal; N * M is below 2^31.
/// - saddle: N + M rows; the last M have no diagonal but six columns of the first N.
/// - patches: each of PARTS equal parts of the rows has one of six kinds, drawn by the seed:
///   diagonals, a band, random columns, blocks of rows with the same random columns, random columns
///   in one row of eight, row lengths with a power law up to 15,872. For fuzz tests of products.
/// - `symmetric` is the union of the pattern with its transpose, so rows become longer.
/// - `permute`: P A P^T (P A Q when not square), P from a Feistel network with cycle walking.
///
/// Compiled into the library for float, double, Kokkos::complex of both; offsets int and
/// std::size_t; every enabled backend (others: include sparse/generators/generators_impl.hpp).
/// Throws Error as parse_generator_spec does, when the number of nonzeros overflows Offset (before
/// entries are allocated), and where memory is short. Fences exec. Takes O(nonzeros) time, O(edges
/// log edges) where edges are sorted (rmat, symmetric).
template <class Scalar, class Exec, class Offset = int>
CrsMatrix<Scalar, Exec, Offset> generate(Exec const& exec, GeneratorSpec const& spec) {
  return generate_rows<Scalar, Exec, Offset>(exec, spec, 0, spec.rows);
}

/// The same for the text of a spec.
template <class Scalar, class Exec, class Offset = int>
CrsMatrix<Scalar, Exec, Offset> generate(Exec const& exec, std::string_view spec) {
  return generate<Scalar, Exec, Offset>(exec, parse_generator_spec(spec));
}

}  // namespace blockspan
