#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>

// Work on every entry of a block by itself.

namespace blockspan::detail {

/// Entry (i, j) of a block for index = i * columns + j, or the other way round where columns are
/// contiguous, so that neighbouring threads touch neighbouring entries.
struct EntryOf {
  std::int64_t rows, columns;
  bool down;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(std::int64_t index) const {
    return down ? index % rows : index / columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(std::int64_t index) const {
    return down ? index / rows : index % columns;
  }
};

template <class Scalar>
EntryOf entry_of(BlockRef<Scalar> const& X) {
  return {X.rows, X.columns, X.row_stride < X.column_stride};
}

template <class Scalar>
BlockRef<Scalar> column_range(BlockRef<Scalar> const& X, std::int64_t first, std::int64_t count) {
  return {X.data + first * X.column_stride, X.rows, count, X.row_stride, X.column_stride};
}

template <class Exec, class Functor>
void for_each_entry(Exec const& exec, char const* label, std::int64_t count,
                    Functor const& functor) {
  if (count == 0) return;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), functor);
}

template <class Scalar>
struct CopyBlock {
  EntryOf entry;
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const i = entry.row(index), j = entry.column(index);
    Y(i, j) = X(i, j);
  }
};

/// Y = X.
template <class Exec, class Scalar>
void copy_block(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar> const& Y) {
  for_each_entry(exec, "Blockspan::copy_block", Y.rows * Y.columns,
                 CopyBlock<Scalar>{entry_of(Y), X, Y});
}

template <class Scalar>
struct ZeroBlock {
  EntryOf entry;
  BlockRef<Scalar> X;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    X(entry.row(index), entry.column(index)) = Scalar(0);
  }
};

/// X = 0.
template <class Exec, class Scalar>
void zero_block(Exec const& exec, BlockRef<Scalar> const& X) {
  for_each_entry(exec, "Blockspan::zero_block", X.rows * X.columns,
                 ZeroBlock<Scalar>{entry_of(X), X});
}

}  // namespace blockspan::detail
