#pragma once

#include <algorithm>
#include <cstdint>

#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>

// How the lanes of a device kernel are laid over rows and columns. Pure functions, compiled once.

namespace blockspan::products {

/// The segments of rows that the threads of a kernel multiply, as far as the lanes depend on them.
struct SegmentStatistics {
  std::int64_t segments;
  double mean;             ///< nonzeros of a segment that is not empty
  std::int64_t longest;    ///< nonzeros
  double unevenness;       ///< relative excess of what groups of neighbouring rows in step traverse
  bool sorted;             ///< neighbours in a warp are of about the same length
  bool near = false;       ///< neighbouring rows read neighbouring rows of X
  std::int64_t empty = 0;  ///< segments without a nonzero
};

/// Fewer segments than this leave lanes of the device idle.
inline std::int64_t few_segments(DeviceFacts const& device) {
  return tuning::few_segments_of_multiprocessor * device.multiprocessors;
}

/// Whether a row is so long that threads of the others wait for the one that walks it.
inline bool has_long_rows(RowStatistics const& rows) {
  return static_cast<double>(rows.longest) >
         tuning::long_row * std::max(tuning::long_row, rows.mean());
}

/// The segments of a variant that works by rows, cut where they are longer than `segment`.
SegmentStatistics statistics_of_segments(RowStatistics const& rows, SpmmVariant const& variant,
                                         std::int64_t segments, std::int64_t segment);

/// Groups of rows as segments: with the entries of one of their rows.
SegmentStatistics statistics_of_groups(RowStatistics const& rows, GroupCount const& count);

/// Microseconds of a product that depend on the lanes: loads that wait for each other until the
/// longest segment is done; what every warp costs, however short its segments; and lanes of a warp
/// that wait for the longest of its segments.
double time_of_lanes(Lanes const& lanes, SegmentStatistics const& of, std::int64_t vectors,
                     DeviceFacts const& device);

/// The lanes for `vectors` vectors (or single columns) in a row of X: those that are all busy, or,
/// where segments are few or uneven, more of them, if the model expects that to be faster. Nonzero
/// members of `asked` decide. `most`: vectors of a lane that there is a kernel for; `may_spread`:
/// segments are whole rows, of which each pass may be a unit of work of its own.
Lanes choose_lanes(DeviceFacts const& device, std::int64_t vectors, SegmentStatistics const& of,
                   int most, SpmmLanes const& asked, bool may_spread = false);

/// The same for single columns of a row-major block, where a lane may own up to `most` of them.
Lanes columns_of_lane(Lanes lanes, std::int64_t columns, int most, SegmentStatistics const& of,
                      SpmmLanes const& asked, DeviceFacts const& device);

}  // namespace blockspan::products
