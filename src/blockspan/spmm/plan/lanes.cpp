#include <algorithm>
#include <cmath>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {
namespace {

using namespace tuning;

/// With short rows of equal length, wide blocks keep all lanes busy too.
bool has_many_even(SegmentStatistics const& of, std::int64_t vectors, DeviceFacts const& device) {
  bool const is_short = of.mean < tuning::device_short_row;
  return of.unevenness <= uneven &&
         (of.segments >= few_segments(device) ||
          (is_short && of.segments * vectors >= spread_vectors * device.multiprocessors));
}

bool has_many(SegmentStatistics const& of, std::int64_t vectors, DeviceFacts const& device) {
  return of.segments >= few_segments(device) || has_many_even(of, vectors, device) ||
         (of.mean >= tuning::device_deep_row && vectors >= wide_vectors &&
          of.segments * vectors >= many_vectors * device.multiprocessors);
}

/// Whether neighbouring threads read unrelated rows of X.
bool is_scattered(SegmentStatistics const& of) { return !of.near && !of.sorted; }

/// log2 of the lanes over the nonzeros that all have enough work.
int entry_lane_bits(std::int64_t vectors, bool single, int column_bits,
                    SegmentStatistics const& of) {
  auto const kind = vectors > 1 ? std::min<std::int64_t>(vectors, 3) : single ? 0 : 1;
  double const least = (is_scattered(of) ? entries_of_scattered_rows : entries_of_others)[kind];
  int bits = 0;
  for (double each = of.mean / 2; column_bits + bits < shared_lane_bits && each >= least; each /= 2)
    ++bits;
  return bits;
}

/// Lanes over columns, `of_lane` vectors each: just enough for a row of X, fewer for short rows,
/// which then need several passes.
int column_lane_bits(std::int64_t vectors, int of_lane, bool is_short, bool sorted = false) {
  std::int64_t wanted = ceil_div(vectors, std::int64_t{of_lane});
  std::int64_t const fewest = of_lane == 1 ? 2 : sorted ? 4 : short_row_lanes;
  if (is_short && vectors > 2)
    wanted = std::min(wanted, std::max(fewest, ceil_div(wanted, std::int64_t{2})));
  return bits_to_hold(wanted, tuning::device_lane_bits);
}

/// The lanes that are all busy: two vectors a lane where there are many, or three where that leaves
/// fewer lanes idle; else one, and lanes over the nonzeros while each has enough to do.
Lanes busy_lanes(DeviceFacts const& device, std::int64_t vectors, SegmentStatistics const& of,
                 int most, SpmmLanes const& asked) {
  bool const is_short = of.mean < tuning::device_short_row;
  auto const with = [&](int each) {
    bool const fewer = is_short && !(is_scattered(of) && each == 1);
    return Lanes{{column_lane_bits(vectors, each, fewer, of.sorted), 0}, each};
  };
  Lanes lanes = with(1);
  bool const two =
      vectors >= (is_short ? two_vectors_short : two_vectors) && has_many(of, vectors, device);
  if (most >= 2 && (asked.vectors == 2 || (asked.vectors == 0 && two))) {
    lanes = with(2);
    lanes.deep = of.mean >= tuning::device_deep_row;
    Lanes const three = with(3);
    bool const suits =
        of.unevenness <= three_vectors_uneven || three.grid.column_bits >= three_vectors_bits;
    if (most >= 3 && asked.vectors == 0 && asked.columns == 0 && suits &&
        three.room(vectors) < lanes.room(vectors))
      lanes = three;
  }
  if (asked.columns > 0)
    lanes.grid.column_bits = bits_to_hold(asked.columns, tuning::device_lane_bits);
  if (!device.lanes_exchange || lanes.vectors_per_lane > 1) return lanes;
  int const room = tuning::device_lane_bits - lanes.grid.column_bits;
  bool const single = most == 1;  // or a kernel without a choice of vectors
  lanes.grid.entry_bits =
      asked.entries > 0
          ? bits_to_hold(asked.entries, room)
          : std::min(room, entry_lane_bits(vectors, single, lanes.grid.column_bits, of));
  return lanes;
}

/// The lanes with concurrent passes that the model predicts to be fastest, if faster than `best`.
Lanes spread_lanes(Lanes best, std::int64_t vectors, SegmentStatistics const& of,
                   DeviceFacts const& device) {
  double least = spread_gain * time_of_lanes(best, of, vectors, device);
  auto const consider = [&](Lanes const& lanes) {
    if (lanes.passes(vectors) == 1) return;
    if (double const time = time_of_lanes(lanes, of, vectors, device); time < least) {
      best = lanes;
      least = time;
    }
  };
  for (int columns = spread_least_bits; columns <= tuning::device_lane_bits; ++columns) {
    consider({{columns, 0}, 2, true, true});
    for (int entries = 0; columns + entries <= tuning::device_lane_bits; ++entries)
      consider({{columns, entries}, 1, false, true});
  }
  return best;
}

}  // namespace

SegmentStatistics statistics_of_segments(RowStatistics const& rows, SpmmVariant const& variant,
                                         std::int64_t segments, std::int64_t segment) {
  bool const sorted = variant.kernel == SpmmKernelId::segments_sorted;
  std::int64_t const empty = variant.skips_empty_rows() ? 0 : std::min(rows.empty_rows, segments);
  std::int64_t const filled = std::max<std::int64_t>(1, segments - empty);
  double const mean = static_cast<double>(rows.nonzeros) / static_cast<double>(filled);
  double const unevenness = std::max(0.0, rows.imbalance() - 1);
  bool const near = rows.diagonal() >= near_diagonal;
  return {segments, mean, std::min(rows.longest, segment), unevenness, sorted, near, empty};
}

SegmentStatistics statistics_of_groups(RowStatistics const& rows, GroupCount const& count) {
  std::int64_t const filled = std::max<std::int64_t>(1, count.groups - rows.empty_rows);
  double const mean = static_cast<double>(count.fetches) / static_cast<double>(filled);
  double const unevenness = std::max(0.0, rows.imbalance() - 1);
  return {count.groups, mean, rows.longest, unevenness, false, true, rows.empty_rows};
}

double time_of_lanes(Lanes const& lanes, SegmentStatistics const& of, std::int64_t vectors,
                     DeviceFacts const& device) {
  auto const& model = device.model;
  bool const shallow = lanes.vectors_per_lane >= 2 && !lanes.deep;
  int const depth = shallow ? tuning::device_depth<2> : tuning::device_depth<1>;
  auto const batch = static_cast<double>(lanes.grid.entries() * depth);
  auto const passes = static_cast<double>(lanes.passes(vectors));
  int const threads = (1 << tuning::device_lane_bits) / lanes.grid.lanes();  // of a warp
  double const warps = static_cast<double>(of.segments) / threads * passes;
  double const neighbours =
      of.sorted ? 0.0
                : std::min(of.unevenness, 3.0) * (threads - 1) / (RowStatistics::group_size - 1);
  double const waits =
      std::ceil(static_cast<double>(of.longest) / batch) * (lanes.spread ? 1 : passes);
  double const cycles =
      warps * (model.warp + model.uneven * std::max(1.0, of.mean / batch) * neighbours);
  return model.wait * waits + cycles / device.cycles();
}

Lanes choose_lanes(DeviceFacts const& device, std::int64_t vectors, SegmentStatistics const& of,
                   int most, SpmmLanes const& asked, bool may_spread) {
  Lanes best = busy_lanes(device, vectors, of, most, asked);
  if (asked.any() || !device.lanes_exchange || has_many_even(of, vectors, device)) return best;
  int const busy = best.grid.lanes();
  auto filled = of;
  if (of.sorted) filled.segments -= of.empty;  // those are warps of their own
  double least = time_of_lanes(best, filled, vectors, device);
  Lanes wider{{bits_to_hold(vectors, tuning::device_lane_bits), 0}, 1};
  for (; wider.grid.column_bits + wider.grid.entry_bits <= tuning::device_lane_bits;
       ++wider.grid.entry_bits) {
    double const time = time_of_lanes(wider, filled, vectors, device);
    if (wider.grid.lanes() <= busy || time >= least) continue;
    best = wider;
    least = time;
  }
  bool const few = of.segments * vectors < spread_vectors * device.multiprocessors &&
                   of.unevenness <= spread_uneven;
  return may_spread && few ? spread_lanes(best, vectors, filled, device) : best;
}

Lanes columns_of_lane(Lanes lanes, std::int64_t columns, int most, SegmentStatistics const& of,
                      SpmmLanes const& asked, DeviceFacts const& device) {
  bool const is_short = of.mean < tuning::device_short_row;
  auto const& [few, most_of_few] = four_columns_of_even_rows;
  bool const four =
      most > 2 && (columns >= four_columns ||
                   (of.unevenness <= uneven && columns >= few && columns <= most_of_few));
  bool const alone = lanes.grid.entry_bits == 0;
  if (asked.vectors == 2 && alone) lanes.vectors_per_lane = 2;
  if (!(four || columns >= (is_short ? pair_columns_short : pair_columns)) || !alone || asked.any())
    return lanes;
  // what all lanes of a warp own in one pass
  int const each = static_cast<int>(
      std::min<std::int64_t>(ceil_div(columns, std::int64_t{1} << tuning::device_lane_bits), most));
  if (!has_many(of, columns, device)) {
    // The lanes keep the device busy, but each pass walks all entries again.
    if (each > 1) lanes = {{tuning::device_lane_bits, 0}, each};
    return lanes;
  }
  if (!four) {
    int const bits = is_short ? pair_lane_bits_short : pair_lane_bits;
    return {{bits_to_hold(ceil_div(columns, std::int64_t{2}), bits), 0}, 2};
  }
  auto const with = [&](int of_lane) {
    return Lanes{{column_lane_bits(columns, of_lane, false), 0}, of_lane};
  };
  // few rows a warp, which wait for each other
  if (of.unevenness > three_vectors_uneven) return with(std::max(each, 2));
  Lanes best = with(4);
  if (with(3).room(columns) < best.room(columns)) best = with(3);
  Lanes const five = with(5);
  if (five.grid.column_bits >= five_columns_bits && five.room(columns) < best.room(columns))
    best = five;
  return best;
}

}  // namespace blockspan::products
