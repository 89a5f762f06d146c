#pragma once

#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arena.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

template <class Exec, class Ordinal>
using RowArray = Kokkos::View<Ordinal*, typename Exec::memory_space>;

// The arrays that a plan prepares for a kernel. The functions that fill them, in the other headers
// of this folder, depend on no scalar, and wait for the instance.

/// The result of one reduction over a pattern.
struct PatternSummary {
  RowStatistics rows;
  /// A hash of shape, offsets and columns: equal for equal patterns, different for almost all
  /// others. A sum of hashes of (place, value), hence the same in any order.
  std::uint64_t fingerprint = 0;
  bool sorted = true;               ///< the columns of every row ascend, equal neighbours allowed
  std::int64_t half_bandwidth = 0;  ///< largest distance of a first or last column from its row
  /// Entries of rows that are as long as the row before, and begin and end with its columns.
  std::int64_t grouping_candidates = 0;
};
/// O(rows + nonzeros).
template <class Exec, class Ordinal>
PatternSummary summarize(Exec const& exec, PatternRef<int, Ordinal> const& A);

/// Divides one allocation, not initialized, into arrays: on a device several allocations take
/// longer than the kernels that fill them.
template <class Exec, class T>
class PartedArray {
 public:
  using Part = Kokkos::View<T*, typename Exec::memory_space>;

  PartedArray(Exec const& exec, char const* label, std::int64_t size)
      : all_(allocate<Part>(exec, label, size)) {}

  Part take(std::int64_t size) {
    std::int64_t const begin = taken_;
    taken_ += size;
    return Kokkos::subview(all_, std::pair<std::int64_t, std::int64_t>(begin, taken_));
  }

 private:
  Part all_;
  std::int64_t taken_ = 0;
};

/// The rows that were cut, and the slots of their segments: see Carry.
template <class Exec, class Ordinal>
struct CutRowList {
  using Space = typename Exec::memory_space;

  std::int64_t cut_rows = 0;
  std::int64_t slots = 0;
  Kokkos::View<Ordinal*, Space> cut_row;   // cut_rows
  Kokkos::View<Ordinal*, Space> cut_slot;  // cut_rows + 1
  Kokkos::View<Ordinal*, Space> slot_row;  // slots

  std::int64_t size() const { return 2 * cut_rows + 1 + slots; }
  /// Takes `size()` places.
  void place(PartedArray<Exec, Ordinal>& array) {
    cut_row = array.take(cut_rows);
    cut_slot = array.take(cut_rows + 1);
    slot_row = array.take(slots);
  }
};

/// Segments of rows, for the schedule CutRows (which explains the arrays).
template <class Exec, class Ordinal>
struct SegmentList : CutRowList<Exec, Ordinal> {
  using Space = typename Exec::memory_space;

  std::int64_t segments = 0;
  Kokkos::View<Ordinal*, Space> target;  // segments
  Kokkos::View<int*, Space> first;       // segments
  Kokkos::View<int*, Space> last;        // segments

  void allocate(Exec const& exec) {
    PartedArray<Exec, Ordinal> of_rows(exec, "Blockspan::spmm_plan::segments",
                                       segments + this->size());
    PartedArray<Exec, int> of_entries(exec, "Blockspan::spmm_plan::ends", 2 * segments);
    target = of_rows.take(segments);
    this->place(of_rows);
    first = of_entries.take(segments);
    last = of_entries.take(segments);
  }
};

/// Tiles of consecutive entries, for the schedule CutTiles (which explains the arrays).
template <class Exec, class Ordinal>
struct TileList : CutRowList<Exec, Ordinal> {
  using Space = typename Exec::memory_space;

  std::int64_t tiles = 0;
  Kokkos::View<Ordinal*, Space> row;   // tiles + 1
  Kokkos::View<int*, Space> entry;     // tiles + 1
  Kokkos::View<Ordinal*, Space> slot;  // tiles + 1
};

/// Neighbouring rows with the same columns, for the schedule RowGroups (which explains the array).
template <class Exec, class Ordinal>
struct RowGroupList {
  int most = 1;  ///< rows of a group, at most; 1: there are no rows
  GroupCount count;
  Kokkos::View<Ordinal*, typename Exec::memory_space> begin;  // groups + 1, a part of an array of
                                                              // 2 rows + 1; empty: not listed
};

/// The distance of each entry's column from its row, less `shift`, in 16 bits. The shift serves
/// rows that are a part of others.
template <class Exec>
struct ColumnDistances {
  Kokkos::View<std::int16_t*, typename Exec::memory_space> values;
  std::int64_t shift = 0;

  bool empty() const { return values.extent(0) == 0; }
  std::int16_t const* data() const { return values.data(); }
};

/// The tiles of windows, for the schedule RowWindows. A tile has tuning::window_columns columns of
/// its window, in the order of the rows; the last tile of a window repeats the last one. Bit j of
/// the i-th mask of a tile: the i-th row has an entry in the j-th column.
template <class Exec, class Ordinal>
struct RowWindowList {
  using Space = typename Exec::memory_space;

  WindowCount count;
  Kokkos::View<std::uint32_t*, Space> first_tile;  // windows + 1
  Kokkos::View<Ordinal*, Space> first_column;      // of each tile, and of an empty one behind them
  Kokkos::View<std::uint16_t*, Space> distance;  // tiles x tuning::window_columns: beyond that one
  Kokkos::View<std::uint16_t*, Space> masks;     // tiles x tuning::window_rows

  /// The place of the distance of the j-th column of a tile: those of a lane are neighbours.
  static KOKKOS_FORCEINLINE_FUNCTION int place_of(int j) {
    constexpr int steps = tuning::window_columns / 4;
    return j % 4 * steps + j / 4;
  }
  /// Loaded ahead of the last tile's products.
  KOKKOS_FUNCTION void end_with_empty_tile() const {
    std::int64_t const tile = count.tiles;
    first_column(tile) = Ordinal(0);
    for (int j = 0; j < tuning::window_columns; ++j)
      distance(tile * tuning::window_columns + j) = 0;
    for (int i = 0; i < tuning::window_rows; ++i) masks(tile * tuning::window_rows + i) = 0;
  }
};

/// Which places of a matrix are full, for windows that share tiles of X: the rows of a team have
/// masks next to each other, for one tile of columns after the other. Bit j of mask (b tiles + t) r
/// + i: row b r + i has an entry in column 64 t + j (r: tuning::shared_window_rows; 64:
/// tuning::shared_window_columns).
template <class Exec>
using TileMasks = Kokkos::View<std::uint64_t*, typename Exec::memory_space>;

/// The pattern of A^T: its entry k is entry permutation(k) of A.
template <class Exec, class Ordinal>
struct TransposedPattern {
  using Space = typename Exec::memory_space;

  std::int64_t rows = 0;                         // of A^T
  std::int64_t columns = 0;                      // of A^T
  Kokkos::View<int*, Space> row_offsets;         // rows + 1
  Kokkos::View<Ordinal*, Space> column_indices;  // entries
  Kokkos::View<int*, Space> permutation;         // entries

  PatternRef<int, Ordinal> ref() const {
    return {rows, columns, static_cast<std::int64_t>(column_indices.extent(0)), row_offsets.data(),
            column_indices.data()};
  }
};

/// Items 0 <= i < n by their keys, 0 <= keys[i] < keys_end, negative ones left out: those of key k
/// are items[offsets[k]], ..., items[offsets[k + 1] - 1], ascending. offsets: keys_end + 1 places,
/// items: n. Returns how many have keys. Waits for the instance. Devices count, distribute, and
/// rank the items of a key: the work is the sum of the squares of their counts, or, where one has
/// more than 1,024, that of a sort of (key, item) in 64 bits; throws Error where these do not fit.
/// Hosts count and distribute on one thread: O(n + keys_end). Scratch comes from the arena.
template <class Exec, class Key>
std::int64_t group_by_key(Exec const& exec, Arena<Exec>& arena, Key const* keys, std::int64_t n,
                          std::int64_t keys_end, int* offsets, int* items);

/// Transposes a pattern; the entries of a row of A^T are in the order of A's entries, so the
/// result does not depend on how many threads there are. `nonzeros`: as `summarize` counts them.
/// Devices group the entries by their columns (group_by_key), hosts count and distribute on one
/// thread. Waits for the instance.
template <class Exec, class Ordinal>
TransposedPattern<Exec, Ordinal> transpose_pattern(Exec const& exec,
                                                   PatternRef<int, Ordinal> const& A,
                                                   std::int64_t nonzeros);
/// The same into arrays that are there, with scratch of an arena.
template <class Exec, class Ordinal>
void transpose_pattern(Exec const& exec, Arena<Exec>& arena, PatternRef<int, Ordinal> const& A,
                       TransposedPattern<Exec, Ordinal> const& result);

}  // namespace blockspan::products
