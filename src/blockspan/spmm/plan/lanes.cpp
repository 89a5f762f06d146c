#include <algorithm>
#include <cmath>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {
namespace {

// Figures are microseconds on one H200 in double, unless they say otherwise.

/// Vectors in a row of X from which on a lane owns two (short rows; others). 7-point
/// 128^3, n = 16: 284 -> 256; 27-point 96^3 287 -> 304. Short rows, n = 8: 5-point 1500^2 165 ->
/// 144; a prolongator of a 7-point grid 88 -> 72; fixed:1000000x1000000:8 275 -> 174.
constexpr std::int64_t two_vectors_short = 4, two_vectors = 9;

/// Three, where fewer lanes are idle then, if rows are no more uneven than this or the lanes of a
/// row as many (a power of two). Up to two and up to three: 27-point, n = 18, 36, 48 413, 385; 748,
/// 587; 754, 602; R-MAT 18, n = 20 (4 lanes) 116, 166; 36 200, 180.
constexpr double three_vectors_uneven = 1;
constexpr int three_vectors_bits = 3;

/// Long rows need fewer segments for two vectors a lane, of wide blocks and from this many vectors
/// of Y a multiprocessor on: 8192 rows of 82, n = 64 39.5 -> 34.6; but 21,909 of 57, n = 32 31
/// -> 47.
constexpr std::int64_t many_vectors = 1985, wide_vectors = 17;

/// Lanes are laid over the nonzeros too while each of them has this many of a mean segment (one
/// column; one vector; two; more), up to this many lanes in all (a power of two). Elasticity 44,
/// n = 2: 4 lanes 84, 8 94, none 149; 27-point 2 lanes 115, 4 122, none 179; two vectors, groups of
/// 31 in a prolongator of elasticity 44, float, n = 8: none 58, whole rows with 2 lanes 46.
/// Scattered rows take more of them, whose loads of A are neighbours. With those of others and
/// these, n = 1, 2, 4: fixed:500000x500000:20 106, 108, 125; 99, 101, 107; 27-point 64^3, permuted,
/// n = 2, 4 80, 92; 70, 70; a restriction of a 7-point grid 40, 59; 36, 46.
constexpr double entries_of_scattered_rows[] = {5, 5, 6, 16}, entries_of_others[] = {6, 8, 14, 16};
constexpr int shared_lane_bits = 3;

/// Share of the groups of rows that follow a diagonal from which on rows are near. Grids have 0.8
/// to 1, a mesh of tetrahedra in the order of a grid 0.95, others at most 0.2.
constexpr double near_diagonal = 0.5;

/// More uneven segments than this may take more lanes than their mean keeps busy, because the
/// longest then ends sooner. n = 8: ca-GrQc 14.8 -> 5.8, email-Enron 27 -> 14.
constexpr double uneven = 0.25;

/// Whole rows of so few vectors a multiprocessor may have each pass over their vectors as a unit of
/// work of its own, with this many lanes over columns at least (a power of two), where row lengths
/// are this even and dependent loads are expected to take this share of the time. 512 x 512, 5 %
/// full, n = 512 23.0 -> 7.0; 2048 x 2048, 1 % full, n = 256 12.0 -> 9.4; but bcsstk13, n = 32 (the
/// model: 0.66) 7.3 -> 8.6; email-Eu-core (unevenness 1.5) cut 8.3, so 11.0.
constexpr std::int64_t spread_vectors = 7943;
constexpr double spread_uneven = 1, spread_gain = 0.55;
constexpr int spread_least_bits = 2;

/// Where vectors do not fit: columns from which on a lane owns two (short rows; others), and lanes
/// at most (a power of two). One and two, n = 7, 9, 31: 27-point 80^3 135, 129; 213, 200; 383, 354;
/// R-MAT 18 73, 100; 112, 105; 210, 187.
constexpr std::int64_t pair_columns_short = 7, pair_columns = 9;
constexpr int pair_lane_bits_short = 3, pair_lane_bits = 4;

/// Columns from which on a lane owns four; in even rows also where four lanes are enough. Two and
/// four, n = 9, 15, 31: 7-point 128^3 337, 253; 358, 331; 596, 547; 27-point 333, 268; 358, 442;
/// 598, 571; R-MAT 18 98, 104; 108, 133; 182, 176. Three, or five with this many lanes at least,
/// where that leaves fewer idle.
constexpr std::int64_t four_columns = 17, four_columns_of_even_rows[] = {5, 13};
constexpr int five_columns_bits = 3;

bool has_many(SegmentStatistics const& of, std::int64_t vectors, DeviceFacts const& device) {
  return of.segments >= few_segments(device) ||
         (of.mean >= tuning::device_deep_row && vectors >= wide_vectors &&
          of.segments * vectors >= many_vectors * device.multiprocessors);
}

/// Neighbouring threads read rows of X that have nothing to do with each other, where they are.
bool is_scattered(SegmentStatistics const& of) { return !of.near && !of.sorted; }

/// Lanes over the nonzeros that all have enough to do, as bits.
int entry_lane_bits(std::int64_t vectors, bool single, int column_bits,
                    SegmentStatistics const& of) {
  auto const kind = vectors > 1 ? std::min<std::int64_t>(vectors, 3) : single ? 0 : 1;
  double const least = (is_scattered(of) ? entries_of_scattered_rows : entries_of_others)[kind];
  int bits = 0;
  for (double each = of.mean / 2; column_bits + bits < shared_lane_bits && each >= least; each /= 2)
    ++bits;
  return bits;
}

/// Lanes over columns, `of_lane` vectors each: just enough for a row of X, fewer for short rows.
int column_lane_bits(std::int64_t vectors, int of_lane, bool is_short) {
  std::int64_t wanted = ceil_div(vectors, std::int64_t{of_lane});
  if (is_short && vectors > 2)
    wanted = std::min(
        wanted, std::max<std::int64_t>(of_lane > 1 ? 4 : 2, ceil_div(wanted, std::int64_t{2})));
  return bits_to_hold(wanted, tuning::device_lane_bits);
}

/// The lanes that are all busy: two vectors a lane where there are many, or three where that leaves
/// fewer lanes idle; else one, and lanes over the nonzeros while each has enough to do.
Lanes busy_lanes(DeviceFacts const& device, std::int64_t vectors, SegmentStatistics const& of,
                 int most, SpmmLanes const& asked) {
  bool const is_short = of.mean < tuning::device_short_row;
  auto const with = [&](int each) {
    return Lanes{{column_lane_bits(vectors, each, is_short && !(is_scattered(of) && each == 1)), 0},
                 each};
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

/// The fastest lanes that the model knows of with passes side by side, if faster than `best`.
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
  if (asked.any() || !device.lanes_exchange ||
      (of.segments >= few_segments(device) && of.unevenness <= uneven))
    return best;
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
  if (!(four || columns >= (is_short ? pair_columns_short : pair_columns)) || !alone ||
      asked.any() || !has_many(of, columns, device))
    return lanes;
  if (!four) {
    int const bits = is_short ? pair_lane_bits_short : pair_lane_bits;
    return {{bits_to_hold(ceil_div(columns, std::int64_t{2}), bits), 0}, 2};
  }
  auto const with = [&](int each) {
    return Lanes{{column_lane_bits(columns, each, false), 0}, each};
  };
  Lanes best = with(4);
  if (with(3).room(columns) < best.room(columns)) best = with(3);
  Lanes const five = with(5);
  if (five.grid.column_bits >= five_columns_bits && five.room(columns) < best.room(columns))
    best = five;
  return best;
}

}  // namespace blockspan::detail
