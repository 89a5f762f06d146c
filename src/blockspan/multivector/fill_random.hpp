#pragma once

#include <cstdint>

#include <blockspan/blocks/block.hpp>

namespace blockspan {

namespace multivector {
template <class Exec, class Scalar>
void fill_random(Exec const& exec, BlockRef<Scalar> const& X, std::uint64_t seed,
                 std::int64_t first_column, std::int64_t first_row);
}  // namespace multivector

/// X(i, j) = a value in [-1, 1) that depends on seed, first_row + i and first_column + j only; both
/// parts of a complex scalar are random.
///
/// X: n x k of any layout, accessible to `exec`. The values are hashes of these indices, multiples
/// of 2^-52 (2^-23 for float) computed by exact operations: the same bits on every backend, in
/// every layout and for any partition of a block. Asynchronous; writes X once.
///
/// Source: the finalizer of SplitMix64, applied to a counter in each direction: Steele, Lea and
/// Flood 2014, doi:10.1145/2660193.2660195; counter-based generation: Salmon, Moraes, Dror and Shaw
/// 2011, doi:10.1145/2063384.2063405.
template <class Exec, class XView>
void fill_random(Exec const& exec, XView const& X, std::uint64_t seed,
                 std::int64_t first_column = 0, std::int64_t first_row = 0) {
  multivector::fill_random<Exec, typename XView::value_type>(exec, blocks::block_ref<Exec>(X), seed,
                                                             first_column, first_row);
}

}  // namespace blockspan
