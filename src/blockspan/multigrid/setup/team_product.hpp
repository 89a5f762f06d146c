#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multigrid/setup/lanes.hpp>
#include <blockspan/multigrid/setup/workers.hpp>

// Sparse products on devices: a row, or a group of rows of A with the same columns, by the lanes of
// a team thread. The entries of a row of A are processed one after another, the lanes share those
// of the row of B; the row of C is accumulated in scratch. One look-up of a position serves all
// rows of a group.

namespace blockspan::levels {

/// Lanes for rows of B of the given mean length, and rows per team such that each has `wanted`
/// entries in scratch; at most 128 threads, at least `warp`: on HIP, Kokkos finds no valid team
/// size if only a part of a wavefront fits.
struct ProductTeams {
  static constexpr int threads = 128, scratch_bytes = 40 * 1024;
  int lanes = 4, rows = 1, room = 0;
  std::size_t bytes_of_place;

  ProductTeams(PatternRef<int, int> const& B, std::int64_t wanted, std::size_t bytes, int warp)
      : bytes_of_place(bytes) {
    lanes = lanes_for(B);
    auto const most = static_cast<std::int64_t>(scratch_bytes / bytes);
    for (rows = threads / lanes; rows * lanes > warp && most / rows < wanted;) rows /= 2;
    room = static_cast<int>(std::min(most / rows, std::max<std::int64_t>(wanted, 1)));
  }

  static int lanes_for(PatternRef<int, int> const& B) {
    return std::max(4, levels::lanes_for(B.entries, B.rows));
  }

  std::size_t bytes_of_thread() const {
    return static_cast<std::size_t>(room) * bytes_of_place + 64;
  }

  template <class Exec, class Kernel>
  void launch(Exec const& exec, char const* label, std::int64_t count, Kernel const& kernel) const {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;
    if (count == 0) return;
    auto policy = Policy(exec, static_cast<int>((count + rows - 1) / rows), rows, lanes);
    policy.set_scratch_size(0, Kokkos::PerThread(static_cast<int>(bytes_of_thread())));
    Kokkos::parallel_for(label, policy, kernel);
  }
};

template <class T, class Team>
KOKKOS_FORCEINLINE_FUNCTION T* thread_array(Team const& team, std::int64_t count) {
  return static_cast<T*>(team.thread_scratch(0).get_shmem_aligned(
      static_cast<std::size_t>(count) * sizeof(T), alignof(T)));
}

/// The values of C = A B in its pattern: every sum follows the order of the row of A, as on hosts.
/// Entries whose rows of B are in one group are multiplied together, with one look-up for all of
/// them.
template <class Scalar>
struct TeamProductValues {
  static constexpr int at_once = 6;  ///< rows of B: six, as for rigid body modes in 3D
  MatrixRef<Scalar, int, int> A, B;
  PatternRef<int, int> C;
  Supernodes supernodes_A, supernodes_B;
  Scalar* values;
  int room;  ///< entries in scratch; longer rows of C are accumulated in memory

  static std::size_t bytes_of_place(Supernodes const& supernodes_A) {
    return static_cast<std::size_t>(supernodes_A.most) * sizeof(Scalar) + sizeof(int);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const group = number_of_thread(team);
    if (group >= supernodes_A.groups) return;
    std::int64_t const i = supernodes_A.first(group);
    int const rows = supernodes_A.rows(group);
    int const first = C.row_offsets[i], count = C.row_offsets[i + 1] - first;
    auto* const own = thread_array<Scalar>(team, std::int64_t{room} * supernodes_A.most);
    auto* const own_keys = thread_array<int>(team, room);
    bool const fits = count <= room;
    Scalar* const KOKKOS_RESTRICT sums = fits ? own : values + first;  // rows are consecutive
    int const* const keys = fits ? own_keys : C.column_indices + first;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int k) {
      for (int r = 0; r < rows; ++r) sums[r * count + k] = Scalar(0);
      if (fits) own_keys[k] = C.column_indices[first + k];
    });
    int const from = A.pattern.row_offsets[i], length = A.pattern.row_offsets[i + 1] - from;
    for (int a = from, taken; a < from + length; a += taken) {
      taken = supernodes_B.run_length(A.pattern.column_indices, a, from + length, at_once);
      int const k = A.pattern.column_indices[a], begin = B.pattern.row_offsets[k];
      int const length_B = B.pattern.row_offsets[k + 1] - begin;
      Scalar const* const KOKKOS_RESTRICT of_A = A.values + a;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, length_B), [&](int b) {
        Scalar factors[at_once];
        for (int e = 0; e < at_once; ++e)
          if (e < taken) factors[e] = B.values[begin + b + e * length_B];
        int const place = place_of(keys, 0, count, B.pattern.column_indices[begin + b]);
        for (int r = 0; r < rows; ++r) {
          Scalar sum = sums[r * count + place];
          for (int e = 0; e < at_once; ++e)
            if (e < taken) sum += of_A[e + r * length] * factors[e];
          sums[r * count + place] = sum;
        }
      });
    }
    if (fits)
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows * count),
                           [&](int k) { values[first + k] = sums[k]; });
  }
};

/// Sorted columns of groups of rows, each at the beginning of the space reserved by its bound.
struct ProductLists {
  std::int64_t const* begin = nullptr;  ///< of a group
  int* columns = nullptr;
};

/// Finds the distinct columns of the rows of A B, by a hash table in scratch: counts them and lists
/// them sorted. A row with too many columns for the table is marked, by the sign of its bound, and
/// left to ProductRows.
struct TeamProductRows {
  PatternRef<int, int> A, B;
  Supernodes supernodes_A, supernodes_B;
  int* bounds;  ///< of the entries of a row of a group; -1 - bound: too many for the table
  int slots;    ///< size of the largest table, a power of two
  int* offsets;
  ProductLists lists = {};  ///< if given, filled by the counting pass
  int* indices = nullptr;   ///< null: count into `offsets`

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const group = number_of_thread(team);
    if (group >= supernodes_A.groups) return;
    std::int64_t const i = supernodes_A.first(group);
    int const bound = bounds[group];
    if (bound < 0) return;
    int const rows = supernodes_A.rows(group);
    int size = 8;
    while (size < 2 * bound && size < slots) size *= 2;
    auto* const table = thread_array<int>(team, 2 * slots + 2);
    int* const list = table + slots;
    int* const found = list + slots;  // followed by the number that did not fit
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, size), [&](int s) {
      table[s] = -1;
      if (s < 2) found[s] = 0;
    });
    int const end = A.row_offsets[i + 1];
    for (int a = A.row_offsets[i]; a < end;
         a += supernodes_B.run_length(A.column_indices, a, end, supernodes_B.most)) {
      int const k = A.column_indices[a], begin = B.row_offsets[k];
      Kokkos::parallel_for(
          Kokkos::ThreadVectorRange(team, B.row_offsets[k + 1] - begin),
          [&](int b) { insert(table, list, found, size, B.column_indices[begin + b]); });
    }
    int const count = found[0];
    bool const full = found[1] > 0;
    bool const counts = indices == nullptr;
    if (counts || full)
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows), [&](int r) {
        offsets[i + r] = count;
        if (full && r == 0) bounds[group] = -1 - bound;
      });
    if (full || (counts && lists.columns == nullptr)) return;
    int* const to = counts ? lists.columns + lists.begin[group] : indices + offsets[i];
    int const copies = counts ? 1 : rows;
    // the position of a key is the number of smaller keys
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int k) {
      int const key = list[k];
      int place = 0;
      for (int other = 0; other < count; ++other) place += list[other] < key ? 1 : 0;
      for (int r = 0; r < copies; ++r) to[place + r * count] = key;
    });
  }

 private:
  /// The order of the list depends on the lanes, but not its set of columns.
  KOKKOS_FORCEINLINE_FUNCTION static void insert(int* table, int* list, int* found, int size,
                                                 int column) {
    int place =
        static_cast<int>(static_cast<std::uint32_t>(column) * 2654435769u >> 7) & (size - 1);
    for (int tries = 0; tries < size; ++tries) {
      int const there = Kokkos::atomic_compare_exchange(table + place, -1, column);
      if (there == column) return;
      if (there == -1) {
        list[Kokkos::atomic_fetch_add(found, 1)] = column;
        return;
      }
      place = (place + 1) & (size - 1);
    }
    Kokkos::atomic_fetch_add(found + 1, 1);
  }
};

/// Copies the listed columns of a group to all of its rows.
struct CopyProductRows {
  Supernodes supernodes;
  int const* bounds;  ///< negative: the group is not listed
  ProductLists lists;
  int const* offsets;
  int* indices;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t group) const {
    if (bounds[group] < 0) return;
    std::int64_t const i = supernodes.first(group);
    int const first = offsets[i], count = offsets[i + 1] - first;
    int const* const from = lists.columns + lists.begin[group];
    lanes.each(count * supernodes.rows(group),
               [&](int k) { indices[first + k] = from[k % count]; });
  }
};

}  // namespace blockspan::levels
