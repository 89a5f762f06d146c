#pragma once

#include <cstdint>
#include <string_view>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/generator_spec.hpp>

namespace blockspan {

/// Whether rows of the matrix can be made by themselves: not of rmat, attachment, saddle,
/// `symmetric` and `permute`.
inline bool knows_rows(GeneratorSpec const& spec) {
  return spec.name != "rmat" && !spec.symmetric && !spec.permuted;
}

/// Rows [first, last) of the matrix that generate() makes, and all its columns. Throws Error like
/// it, and for some of the rows if !knows_rows(spec).
template <class Scalar, class Exec, class Offset = int>
CrsMatrix<Scalar, Exec, Offset> generate_rows(Exec const& exec, GeneratorSpec const& spec,
                                              std::int64_t first, std::int64_t last);

/// Builds the matrix of a spec (see GeneratorSpec and generator_help()) on the device.
///
/// Columns within a row are distinct and ascending. Structure and values are bit-identical on every
/// backend: pseudo-random numbers are integer hashes of (seed, row, column), values come from them
/// by exact operations, from tables made on the host, or from integers by one correctly rounded
/// division; there are no atomics. (The row lengths of powerlaw and lognormal come from a table of
/// the host's pow and erfc: the same on all backends of a machine.) The float matrix is the double
/// matrix, each entry rounded. Complex scalars: grids and elasticity are real; random values have
/// two parts, and `symmetric` means Hermitian.
///
/// - Grids: Dirichlet boundaries, x fastest. laplace5 4/-1, laplace7 6/-1, laplace27 26/-1. aniso7
///   has -eps on the faces of each axis. jump7: cubes of `width` points an edge, each with the
///   coefficient 1 or CONTRAST by the toss of a coin; faces have the harmonic mean.
/// - elasticity, elasticity-mass: 8-node bricks on the unit cube, N nodes an edge, E = 1, nu = 0.3,
///   density 1, 3 unknowns a node, interleaved, x fastest. Clamped at x = 0 (those unknowns are
///   removed) unless `free`. Each entry is the exact entry of the finite-element matrix, rounded
///   once; entries of a node's 3 x 3 blocks are kept even where they are zero.
/// - p1, p1-mass: linear elements on tetrahedra of the unit cube, N nodes an edge, those inside
/// moved
///   by up to an eighth of the spacing; x fastest; the nodes of x = 0 are removed unless `free`.
///   The entry of an element is a division of integers. generate_coordinates (coordinates.hpp) says
///   where the nodes are.
/// - star: minus the Laplacian by central differences of order 2 REACH, spacing 1, Dirichlet.
/// - spins: H = sum of S_s . S_(s+1) on a ring of SITES spins 1/2, bit s of the row is spin s; in
///   every sector of the magnetization. Exact values; symmetric, indefinite.
/// - queues: generator of the Markov chain, the first queue fastest; arrivals at rate 1, services
/// at
///   5/4, a customer waits where the next queue is full. Rows sum to zero.
/// - Random rows: the j-th of d columns is drawn from the j-th of d equal parts of the column range
///   (stratified sampling: exact counts, distinct and ascending without a sort).
/// - rmat: Chakrabarti, Zhan, Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004,
///   doi:10.1137/1.9781611972740.43. EDGEFACTOR * 2^SCALE edges, duplicates kept once.
/// - wells, circuit: LONG rows, one in each of as many equal parts of the rows, have LENGTH columns
///   more, drawn as those of random rows; what a row has already stays once. In circuit the others
///   are the diagonal and between 0 and 2 MEAN columns at distances d with P(distance >= d) = 1 /
///   d; what falls beyond the matrix is left out.
/// - lognormal: length = ceil(s e^(SIGMA z)), z normal, cut at `max`; s gives it its mean.
/// - attachment: each vertex has M edges to older vertices (or to itself), drawn by their degrees,
///   repeated ones once: Sanders, Schulz, "Scalable generation of scale-free graphs", Inf. Process.
///   Lett. 116 (2016), doi:10.1016/j.ipl.2016.02.004. With the diagonal; N * M is below 2^31.
/// - saddle: N + M rows; the last M have no diagonal but six columns of the first N.
/// - patches: each of PARTS equal parts of the rows has one of six kinds, drawn by the seed:
///   diagonals, a band, random columns, blocks of rows with the same random columns, random columns
///   in one row of eight, row lengths with a power law up to 8,192. For fuzzes of products.
/// - `symmetric` is the union of the pattern with its transpose, so rows grow.
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

/// The same for a spec not yet parsed.
template <class Scalar, class Exec, class Offset = int>
CrsMatrix<Scalar, Exec, Offset> generate(Exec const& exec, std::string_view spec) {
  return generate<Scalar, Exec, Offset>(exec, parse_generator_spec(spec));
}

}  // namespace blockspan
