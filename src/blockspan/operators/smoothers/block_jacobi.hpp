#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::operators {

// Defined in block_jacobi_impl.hpp, compiled once per backend and scalar (and offset).
//
// Blocks of b <= 8 consecutive rows are stored row by row: the entry of row i of the matrix and
// column c of its block is at i b + c. The last block may have fewer rows; each of them still has
// storage for b scalars.

/// Faults of blocks; rows are the first rows of blocks, -1: none.
struct BlockFaults {
  std::int64_t not_finite_row = -1;
  std::int64_t indefinite_row = -1;  ///< not positive definite to working precision
  std::int64_t indefinite = 0;       ///< number of such blocks
};

/// See blockspan::find_block_size.
template <class Exec, class Scalar, class Offset, class Ordinal>
int find_block_size(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// The least |a_ii| that is not zero (and whose inverse is finite); infinity if there is none.
/// Fences the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
real_t<Scalar> least_diagonal(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// blocks := the diagonal blocks of A; repeated entries add up. Rows of A without nonzero entries
/// get the diagonal entry `least`. Asynchronous. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
void gather_blocks(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A, int b,
                   real_t<Scalar> least, Scalar* blocks);

/// blocks := their inverses. Blocks that are not positive definite become |.|^-1 if `absolute`,
/// otherwise they are undefined; rows of zeros in a block are scaled as if their diagonal entries
/// were `least`. Fences the instance.
template <class Exec, class Scalar>
BlockFaults invert_blocks(Exec const& exec, std::int64_t rows, int b, bool absolute,
                          real_t<Scalar> least, Scalar* blocks);

/// Y = blocks X. Asynchronous.
template <class Exec, class Scalar>
void apply_blocks(Exec const& exec, int b, Scalar const* blocks, BlockRef<Scalar const> const& X,
                  BlockRef<Scalar> const& Y);

}  // namespace blockspan::operators
