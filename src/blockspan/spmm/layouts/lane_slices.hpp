#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/distances.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

// A copy of a matrix for products with one column on devices, in slices of neighbouring rows, one a
// lane: the k-th entries of the rows of a slice lie together, so that lanes read whole lines
// (Monakov, Lokhmotov and Avetisyan 2010, doi:10.1007/978-3-642-11515-8_10). Rows that are shorter
// than the longest of their slice leave gaps, which nothing reads.

namespace blockspan::products {

/// Whether products of these scalars have a kernel that reads such slices.
template <class Exec, class Scalar>
inline constexpr bool has_lane_slices_v = lanes_exchange_v<Exec>&& std::is_floating_point_v<Scalar>;

template <class Scalar, class Exec>
struct LaneSlices {
  template <class Element>
  using Array = Kokkos::View<Element*, typename Exec::memory_space>;

  Array<int> first;  ///< of each slice: its first place; and the number of places
  ColumnDistances<Exec> distances;
  Array<Scalar> values;
};

/// Places of slices, by the longest of their rows.
template <class Ordinal>
struct PlaceSlices {
  static constexpr int rows = tuning::lane_slice_rows;
  PatternRef<int, Ordinal> A;
  std::int64_t slices;
  int* first;

  KOKKOS_FUNCTION void operator()(std::int64_t slice, std::int64_t& places, bool final) const {
    if (final) first[slice] = static_cast<int>(places);
    if (slice == slices) return;
    int longest = 0;
    for (std::int64_t row = slice * rows; row < Kokkos::min((slice + 1) * rows, A.rows); ++row)
      longest = Kokkos::max(longest, A.row_offsets[row + 1] - A.row_offsets[row]);
    places += std::int64_t{longest} * rows;
  }
};

/// Entries of a row to their places.
template <class Scalar, class Ordinal>
struct FillLaneSlices {
  static constexpr int rows = tuning::lane_slice_rows;
  MatrixRef<Scalar, int, Ordinal> A;
  int const* first;
  std::int16_t* distances;
  std::int64_t shift;
  Scalar* values;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    auto const& pattern = A.pattern;
    std::int64_t place = first[row / rows] + row % rows;
    for (int k = pattern.row_offsets[row]; k < pattern.row_offsets[row + 1]; ++k, place += rows) {
      values[place] = A.values[k];
      distances[place] = static_cast<std::int16_t>(distance_of(pattern, row, k) - shift);
    }
  }
};

/// The entries of A. False, and nothing is done, where rows have few entries or gaps would be many
/// (tuning::lane_slice_row_bytes, lane_slice_gaps). Waits for the instance; throws
/// Error where memory is short. shift: of the distances. `slices`: may be of the same pattern,
/// whose memory is used again. O(nonzeros).
template <class Exec, class Scalar, class Ordinal>
bool fill_lane_slices(Exec const& exec, MatrixRef<Scalar, int, Ordinal> const& A,
                      std::int64_t shift, LaneSlices<Scalar, Exec>& slices) {
  char const* const label = "Blockspan::spmm_plan::slices";
  auto const& pattern = A.pattern;
  std::int64_t const count = ceil_div(pattern.rows, std::int64_t{tuning::lane_slice_rows});
  if (slices.first.extent(0) == 0) {
    LaneSlices<Scalar, Exec> made;
    made.first = allocate<decltype(made.first)>(exec, label, count + 1);
    std::int64_t places = 0;
    Kokkos::parallel_scan(label, IndexRange<Exec>(exec, 0, count + 1),
                          PlaceSlices<Ordinal>{pattern, count, made.first.data()}, places);
    double const most = (1 + tuning::lane_slice_gaps) * static_cast<double>(pattern.entries);
    bool const short_rows = pattern.entries * std::int64_t{sizeof(Scalar) + sizeof(std::int16_t)} <
                            pattern.rows * tuning::lane_slice_row_bytes;
    if (short_rows || static_cast<double>(places) > most || places > INT_MAX) return false;
    made.values = allocate<decltype(made.values)>(exec, label, places);
    made.distances.values = allocate<decltype(made.distances.values)>(exec, label, places);
    made.distances.shift = shift;
    slices = made;
  }
  Kokkos::parallel_for(
      label, IndexRange<Exec>(exec, 0, pattern.rows),
      FillLaneSlices<Scalar, Ordinal>{A, slices.first.data(), slices.distances.values.data(), shift,
                                      slices.values.data()});
  exec.fence(label);
  return true;
}

}  // namespace blockspan::products
