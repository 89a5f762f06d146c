#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

// How an inner reads the matrix: column(place), and value(place, row_at) of the row whose entries
// are stored `row_at` behind those of the segment's first row, which has the same columns. Here a
// place is the index of an entry; entries of blocks overload these functions (groups.hpp).

/// Traversal of the entries of a segment.
template <class Entries, class Segment>
KOKKOS_FORCEINLINE_FUNCTION Entries const& entries_of(Entries const& entries, Segment const&) {
  return entries;
}
/// The place of the segment's k-th entry, segment.first <= k < segment.last ...
template <class Own>
KOKKOS_FORCEINLINE_FUNCTION int place_at(Own const&, int k) {
  return k;
}
/// ... and from one, which is not the last, to the next.
template <class Own>
KOKKOS_FORCEINLINE_FUNCTION void advance(Own const&, int& place) {
  ++place;
}

/// The entries in the order in which they are stored; Storage: the type of the values in memory ...
template <class Scalar, class Ordinal, class Storage = Scalar>
struct PlainEntries {
  Ordinal const* columns;
  Storage const* values;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Storage const* address(int k) const { return values + k; }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k, int row_at = 0) const {
    return Scalar(load(address(k + row_at)));
  }
  /// Nothing to do: hardware prefetches contiguous entries.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(int, int = 0) const {}
};

/// ... or the same with the distance of each column from the row, less `shift`, in 16 bits. They
/// are read by rows:
template <class Scalar, class Ordinal>
struct NarrowEntries {
  std::int16_t const* distances;
  Scalar const* values;
  Ordinal shift;
};
template <class Scalar, class Ordinal>
struct NarrowRowEntries : NarrowEntries<Scalar, Ordinal> {
  Ordinal origin;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int k) const {
    return origin + static_cast<Ordinal>(load(this->distances + k));
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k, int row_at = 0) const {
    return load(this->values + (k + row_at));
  }
};
template <class Scalar, class Ordinal, class Segment>
KOKKOS_FORCEINLINE_FUNCTION NarrowRowEntries<Scalar, Ordinal> entries_of(
    NarrowEntries<Scalar, Ordinal> const& entries, Segment const& segment) {
  return {entries, static_cast<Ordinal>(segment.row()) + entries.shift};
}

/// Entries that know whole rows only.
template <class Entries>
inline constexpr bool are_narrow_v = false;
template <class Scalar, class Ordinal>
inline constexpr bool are_narrow_v<NarrowEntries<Scalar, Ordinal>> = true;

/// Entries whose values are stored in the order of the columns.
template <class Entries>
inline constexpr bool are_plain_v = are_narrow_v<Entries>;
template <class Scalar, class Ordinal, class Storage>
inline constexpr bool are_plain_v<PlainEntries<Scalar, Ordinal, Storage>> = true;

/// ... or the entries of the transposed pattern, whose k-th value is the matrix's
/// permutation[k]-th.
template <class Scalar, class Ordinal, class Storage = Scalar>
struct PermutedEntries {
  Ordinal const* columns;
  int const* permutation;
  Storage const* values;
  int last;  ///< the last entry there is

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Storage const* address(int k) const {
    return values + load(permutation + k);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k, int row_at = 0) const {
    return Scalar(load(address(k + row_at)));
  }
  /// Hosts: prefetches the value that is needed some entries after k.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(int place, int row_at = 0) const {
    [[maybe_unused]] int const k = place + row_at;
    KOKKOS_IF_ON_HOST((constexpr int ahead = tuning::host_prefetch; __builtin_prefetch(
                           values + permutation[last - k > ahead ? k + ahead : last]);))
  }
};

}  // namespace blockspan::products
