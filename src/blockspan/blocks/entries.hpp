#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/registers/register_set.hpp>

// Element-wise kernels on blocks.

namespace blockspan::blocks {

/// An entry kernel with a type Operands and a function load declares what it reads, and receives it
/// as third argument. Devices then load several operands before the first write: compilers cannot
/// reorder them where blocks might overlap, and one float a thread leaves too few bytes in flight.
template <class Entry>
concept LoadsFirst = requires {
  typename Entry::Operands;
};

template <class Entry>
KOKKOS_FORCEINLINE_FUNCTION void work_on(Entry const& entry, std::int64_t i, std::int64_t j) {
  if constexpr (LoadsFirst<Entry>)
    entry(i, j, entry.load(i, j));
  else
    entry(i, j);
}

/// Every entry of a block, on devices. A task is one entry, or several, `tasks` apart. Consecutive
/// tasks are adjacent along the contiguous direction.
template <class Entry>
struct EntriesOfTask {
  static constexpr int most = LoadsFirst<Entry> ? 4 : 1;

  Entry entry;
  std::int64_t count, tasks;
  Divisor length;  ///< along the contiguous direction
  bool down;

  EntriesOfTask(Entry const& entry_, std::int64_t rows, std::int64_t columns, bool down_)
      : entry(entry_),
        count(rows * columns),
        tasks(ceil_div(count, most)),
        length(down_ ? rows : columns, count),
        down(down_) {}

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    if constexpr (LoadsFirst<Entry>) {
      typename Entry::Operands operands[most];
      for (int t = 0; t < most; ++t)
        at(task + t * tasks, [&](auto i, auto j) { operands[t] = entry.load(i, j); });
      for (int t = 0; t < most; ++t)
        at(task + t * tasks, [&](auto i, auto j) { entry(i, j, operands[t]); });
    } else {
      at(task, entry);
    }
  }

 private:
  template <class Work>
  KOKKOS_FORCEINLINE_FUNCTION void at(std::int64_t index, Work const& work) const {
    if (index >= count) return;
    std::int64_t const line = length.quotient(index), place = index - line * length.divisor();
    down ? work(place, line) : work(line, place);
  }
};

template <class Exec, class Entry>
void launch_entries(Exec const& exec, char const* label, EntriesOfTask<Entry> const& entries) {
  Kokkos::parallel_for(label, IndexRange<Exec>(exec, 0, entries.tasks), entries);
}

/// Every entry of a block, on hosts; a task is a chunk of rows.
template <class Entry>
struct RowsPerTask {
  static constexpr std::int64_t chunk = 256;

  Entry entry;
  std::int64_t rows, columns;
  bool down;

  // Not inlined: see ChunkSumsOnHost.
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void operator()(std::int64_t task) const {
    std::int64_t const first = task * chunk, last = first + chunk < rows ? first + chunk : rows;
    if (down)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = first; i < last; ++i) work_on(entry, i, j);
    else
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = 0; j < columns; ++j) work_on(entry, i, j);
  }
};

/// Calls entry(i, j) for every entry of a block of the shape and layout of X.
template <class Exec, class Scalar, class Entry>
void for_each_entry(Exec const& exec, char const* label, BlockRef<Scalar> const& X,
                    Entry const& entry) {
  if (X.rows == 0 || X.columns == 0) return;
  bool const down = X.row_stride <= X.column_stride;
  if constexpr (runs_on_host_v<Exec>)
    Kokkos::parallel_for(label,
                         IndexRange<Exec>(exec, 0, ceil_div(X.rows, RowsPerTask<Entry>::chunk)),
                         RowsPerTask<Entry>{entry, X.rows, X.columns, down});
  else
    launch_entries(exec, label, EntriesOfTask<Entry>(entry, X.rows, X.columns, down));
}

/// A local copy of a kernel for hosts, which stores to blocks cannot alias. set_width(columns), if
/// present, sets a compile-time number of columns and contiguous rows, with which loops vectorize
/// better.
template <class Kernel, class Width>
KOKKOS_FORCEINLINE_FUNCTION Kernel copy_of_width(Kernel kernel, [[maybe_unused]] Width columns) {
  if constexpr (requires { kernel.set_width(columns); }) kernel.set_width(columns);
  return kernel;
}

/// A kernel of rows on hosts; a task is a chunk of rows. Narrow blocks have a compile-time width:
/// two to thirteen times as fast as loops of a few iterations (perf/notes/hosts.md).
template <class Kernel>
struct KernelOfRows {
  static constexpr std::int64_t chunk = 256, widest = 8;

  Kernel kernel;
  std::int64_t rows, columns;

  // Not inlined: see ChunkSumsOnHost.
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void operator()(std::int64_t task) const {
    std::int64_t const first = task * chunk, last = first + chunk < rows ? first + chunk : rows;
    if (columns > widest) return walk(first, last, columns);
    with_width<1>([&](auto width) { walk(first, last, width); });
  }

 private:
  template <class Width>
  KOKKOS_FORCEINLINE_FUNCTION void walk(std::int64_t first, std::int64_t last, Width width) const {
    Kernel const own = copy_of_width(kernel, width);
    for (std::int64_t i = first; i < last; ++i) own(i, 0, width);
  }
  template <std::int64_t width, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void with_width(Function const& function) const {
    if constexpr (width <= widest)
      columns == width ? function(std::integral_constant<std::int64_t, width>())
                       : with_width<width + 1>(function);
  }
};
/// A kernel of rows applied to one column.
template <class Kernel>
struct EntryOfRow {
  Kernel kernel;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const { kernel(i, j, j + 1); }
};

/// Calls kernel(i, first, last) for columns [first, last) of all rows: on hosts for whole rows,
/// along which the kernel vectorizes, on devices entry by entry, where the kernel may satisfy
/// LoadsFirst.
template <class Exec, class Kernel>
void for_each_row(Exec const& exec, char const* label, std::int64_t rows, std::int64_t columns,
                  Kernel const& kernel) {
  using Entry = std::conditional_t<LoadsFirst<Kernel>, Kernel, EntryOfRow<Kernel>>;
  if (rows == 0 || columns == 0) return;
  if constexpr (runs_on_host_v<Exec>)
    Kokkos::parallel_for(label,
                         IndexRange<Exec>(exec, 0, ceil_div(rows, KernelOfRows<Kernel>::chunk)),
                         KernelOfRows<Kernel>{kernel, rows, columns});
  else
    launch_entries(exec, label, EntriesOfTask<Entry>(Entry{kernel}, rows, columns, false));
}

template <class Scalar>
struct CopyBlock {
  using Operands = Scalar;
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  KOKKOS_FORCEINLINE_FUNCTION Scalar load(std::int64_t i, std::int64_t j) const { return X(i, j); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Scalar x) const {
    Y(i, j) = x;
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

}  // namespace blockspan::blocks
