#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/schedule/block_rows.hpp>

namespace blockspan::detail {

/// Division of any int >= 0 by a fixed one, as a multiplication and a shift (Granlund, Montgomery
/// 1994, PLDI, doi:10.1145/178243.178249): exact below 2^31.
class FastDivision {
 public:
  FastDivision() = default;
  explicit FastDivision(int divisor) {
    while ((std::int64_t{1} << bits_) < divisor) ++bits_;
    factor_ = static_cast<std::uint32_t>(
        (std::uint64_t{1} << (31 + bits_)) / static_cast<std::uint64_t>(divisor) + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION int operator()(int number) const {
    return static_cast<int>(
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) * factor_ >> (31 + bits_));
  }

 private:
  int bits_ = 0;
  std::uint32_t factor_ = (std::uint32_t{1} << 31) + 1;
};

/// How the blocks of a matrix lie, or those of its transpose.
struct BlockShape {
  FastDivision by_size;
  int size;         ///< rows and columns of a block
  int column_step;  ///< values from a column of a block to the next
};

/// The entries of a block row: place k is the (k mod size)-th column of its (k / size)-th block.
template <class Scalar, class Offset, class Ordinal>
struct BlockRowEntries {
  Ordinal const* columns;     ///< of the block row
  Offset const* permutation;  ///< null, or of the block row
  Scalar const* values;       ///< of the block row; with a permutation, of the matrix
  BlockShape shape;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int k) const {
    int const block = shape.by_size(k);
    return load(columns + block) * static_cast<Ordinal>(shape.size) +
           static_cast<Ordinal>(k - block * shape.size);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k, int row_at) const {
    int const block = shape.by_size(k);
    auto const place = permutation == nullptr
                           ? std::int64_t{block}
                           : static_cast<std::int64_t>(load(permutation + block));
    return load(values + place * shape.size * shape.size +
                (k - block * shape.size) * shape.column_step + row_at);
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(int) const {}
};

/// The entries of a matrix of blocks, as an inner reads them (entries.hpp).
template <class Scalar, class Offset, class Ordinal>
struct BlockEntries {
  Ordinal const* columns;
  Offset const* permutation;  ///< of the blocks; null: none
  Scalar const* values;
  BlockShape shape;

  KOKKOS_FORCEINLINE_FUNCTION BlockRowEntries<Scalar, Offset, Ordinal> of(
      BlockGroup<Offset> const& group) const {
    auto const first = static_cast<std::int64_t>(group.block);
    if (permutation != nullptr) return {columns + first, permutation + first, values, shape};
    return {columns + first, nullptr, values + first * shape.size * shape.size, shape};
  }
};

}  // namespace blockspan::detail
