#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/multivector/detail/small_ref.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>

// Work on every entry of a block by itself.

namespace blockspan::detail {

/// Calls entry(i, j) for every entry; task: one entry, neighbouring tasks along the contiguous
/// direction.
template <class Entry>
struct EntryPerTask {
  Entry entry;
  std::int64_t rows, columns;
  bool down;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    if (down)
      entry(task % rows, task / rows);
    else
      entry(task / columns, task % columns);
  }
};

/// The same; task: some rows, so that no index is divided.
template <class Entry>
struct RowsPerTask {
  static constexpr std::int64_t chunk = 256;

  Entry entry;
  std::int64_t rows, columns;
  bool down;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    std::int64_t const first = task * chunk, last = first + chunk < rows ? first + chunk : rows;
    if (down)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = first; i < last; ++i) entry(i, j);
    else
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = 0; j < columns; ++j) entry(i, j);
  }
};

/// entry(i, j) for every entry of a block of the shape and layout of X.
template <class Exec, class Scalar, class Entry>
void for_each_entry(Exec const& exec, char const* label, BlockRef<Scalar> const& X,
                    Entry const& entry) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (X.rows == 0 || X.columns == 0) return;
  bool const down = X.row_stride <= X.column_stride;
  if constexpr (runs_on_host_v<Exec>)
    Kokkos::parallel_for(label, Range(exec, 0, ceil_div(X.rows, RowsPerTask<Entry>::chunk)),
                         RowsPerTask<Entry>{entry, X.rows, X.columns, down});
  else
    Kokkos::parallel_for(label, Range(exec, 0, X.rows * X.columns),
                         EntryPerTask<Entry>{entry, X.rows, X.columns, down});
}

/// A task is a row, or one entry of it.
template <class Kernel>
struct RowParts {
  struct Whole {};
  struct Entry {};
  Kernel kernel;
  std::int64_t columns;

  KOKKOS_FUNCTION void operator()(Whole, std::int64_t i) const { kernel(i, 0, columns); }
  KOKKOS_FUNCTION void operator()(Entry, std::int64_t task) const {
    std::int64_t const j = task % columns;
    kernel(task / columns, j, j + 1);
  }
};

/// kernel(i, first, last) for columns [first, last) of all rows: on hosts whole rows, along which
/// the kernel vectorizes, on devices an entry a thread.
template <class Exec, class Kernel>
void for_each_row(Exec const& exec, char const* label, std::int64_t rows, std::int64_t columns,
                  Kernel const& kernel) {
  constexpr bool whole = runs_on_host_v<Exec>;
  using Parts = RowParts<Kernel>;
  using Tag = std::conditional_t<whole, typename Parts::Whole, typename Parts::Entry>;
  if (rows == 0 || columns == 0) return;
  Kokkos::parallel_for(label,
                       Kokkos::RangePolicy<Exec, Tag, Kokkos::IndexType<std::int64_t>>(
                           exec, 0, whole ? rows : rows * columns),
                       Parts{kernel, columns});
}

template <class Scalar>
struct CopyBlock {
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    Y(i, j) = X(i, j);
  }
};

/// Y = X.
template <class Exec, class Scalar>
void copy_block(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar> const& Y) {
  for_each_entry(exec, "Blockspan::copy_block", Y, CopyBlock<Scalar>{X, Y});
}

template <class Scalar>
struct ZeroBlock {
  BlockRef<Scalar> X;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    X(i, j) = Scalar(0);
  }
};

/// X = 0.
template <class Exec, class Scalar>
void zero_block(Exec const& exec, BlockRef<Scalar> const& X) {
  for_each_entry(exec, "Blockspan::zero_block", X, ZeroBlock<Scalar>{X});
}

}  // namespace blockspan::detail
