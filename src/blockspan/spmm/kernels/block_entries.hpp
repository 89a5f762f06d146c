#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/kernels/block_rows.hpp>
#include <blockspan/support/fast_division.hpp>

namespace blockspan::detail {

/// How the blocks of a matrix lie, or those of its transpose.
struct BlockShape {
  FastDivision by_size;
  int size;         ///< rows and columns of a block
  int column_step;  ///< values from a column of a block to the next
};

/// One entry of each row of a block row: a column of a block.
template <class Ordinal>
struct BlockPlace {
  Ordinal column;
  std::int64_t value;  ///< of the first row
  int block;           ///< in the block row
  int left;            ///< columns of the block from this one on
};

/// How the entries of a block row are read.
template <class Scalar, class Offset, class Ordinal>
struct BlockRowEntries {
  Ordinal const* columns;     ///< of the block row
  Offset const* permutation;  ///< null, or of the block row
  Scalar const* values;       ///< of the block row; with a permutation, of the matrix
  BlockShape shape;

  /// The j-th column of a block.
  KOKKOS_FORCEINLINE_FUNCTION BlockPlace<Ordinal> place(int block, int j) const {
    auto const number = permutation == nullptr
                            ? std::int64_t{block}
                            : static_cast<std::int64_t>(load(permutation + block));
    return {load(columns + block) * static_cast<Ordinal>(shape.size) + static_cast<Ordinal>(j),
            number * shape.size * shape.size + j * shape.column_step, block, shape.size - j};
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(BlockPlace<Ordinal> const& place) const {
    return place.column;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace<Ordinal> const& place, int row_at) const {
    return load(values + (place.value + row_at));
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(BlockPlace<Ordinal> const&, int) const {}
};

template <class Scalar, class Offset, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION BlockPlace<Ordinal> place_at(
    BlockRowEntries<Scalar, Offset, Ordinal> const& own, int k) {
  int const block = own.shape.by_size(k);
  return own.place(block, k - block * own.shape.size);
}
template <class Scalar, class Offset, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void advance(BlockRowEntries<Scalar, Offset, Ordinal> const& own,
                                         BlockPlace<Ordinal>& place) {
  if (--place.left == 0) {
    place = own.place(place.block + 1, 0);
  } else {
    ++place.column;
    place.value += own.shape.column_step;
  }
}

/// The entries of a matrix of blocks, as an inner reads them (entries.hpp).
template <class Scalar, class Offset, class Ordinal>
struct BlockEntries {
  Ordinal const* columns;
  Offset const* permutation;  ///< of the blocks; null: none
  Scalar const* values;
  BlockShape shape;
};

template <class Scalar, class Offset, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION BlockRowEntries<Scalar, Offset, Ordinal> entries_of(
    BlockEntries<Scalar, Offset, Ordinal> const& all, BlockGroup<Offset> const& group) {
  auto const first = static_cast<std::int64_t>(group.block);
  auto const& shape = all.shape;
  if (all.permutation != nullptr)
    return {all.columns + first, all.permutation + first, all.values, shape};
  return {all.columns + first, nullptr, all.values + first * shape.size * shape.size, shape};
}

}  // namespace blockspan::detail
