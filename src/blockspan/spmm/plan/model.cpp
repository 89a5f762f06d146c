#include <algorithm>
#include <cmath>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {
namespace {

/// Segments longer than short ones need this many nonzeros of the matrix for one of theirs: there
/// must be segments enough.
constexpr std::int64_t short_segment = 64, least_share = 512;

/// Sorted rows are no longer next to those that read the same rows of X. Those that are about even
/// and not cut take as much longer than in place, or more (restrictions of a 7- and a 27-point
/// grid, 25.9 and 124.5 a row, n = 16, 32: 1.18, 1.30; 1.10, 1.34).
constexpr double sorted_even = 1.5, sorted_loss = 1.2;

/// Loads of a tile of a window that wait for each other: a coarse level of elasticity 44, 312 a
/// row, n = 4, 8 51, 51.
constexpr double tile_waits = 3;

constexpr double index_bytes = sizeof(int), sector_bytes = 32;

double as_double(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

int column_bytes(std::int64_t columns, std::size_t scalar_bytes) {
  auto const bytes = columns * static_cast<std::int64_t>(scalar_bytes);
  return bytes <= tuning::device_few_column_bytes ? tuning::device_few_column_bytes
                                                  : tuning::device_column_bytes;
}

bool stages_columns(RowStatistics const& rows, std::int64_t columns, std::size_t scalar_bytes,
                    std::size_t entry_bytes) {
  std::int64_t const entries = tuning::staged_column_rows * rows.longest;
  auto const bytes = static_cast<std::int64_t>(entry_bytes) * (entries + entries / 16);
  return columns * static_cast<std::int64_t>(scalar_bytes) > tuning::device_column_bytes &&
         bytes <= tuning::staged_column_bytes;
}

DeviceModel::DeviceModel(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                         DeviceFacts const& device)
    : rows_(rows),
      columns_(columns),
      vectors_(ceil_div(columns * static_cast<std::int64_t>(scalar.bytes),
                        std::int64_t{tuning::device_vector_bytes})),
      whole_(columns * static_cast<std::int64_t>(scalar.bytes) % tuning::device_vector_bytes == 0),
      scalar_(scalar),
      device_(device),
      entries_(as_double(rows.nonzeros)) {
  auto const& model = device.model;
  std::int64_t const fetched = rows.rows + std::min(rows.columns, rows.nonzeros);
  stream_ = (entries_ * (as_double(std::int64_t(scalar.bytes)) + index_bytes) +
             index_bytes * as_double(rows.rows) + bytes(fetched)) /
            (model.stream * device.dram);
  double const near = rows.diagonal();
  gather_ = bytes(rows.nonzeros) * single() * (near / model.near + (1 - near) * far_cycles()) /
            device.cycles();
}

double DeviceModel::bytes(std::int64_t count) const {
  return as_double(count) * as_double(columns_ * static_cast<std::int64_t>(scalar_.bytes));
}
double DeviceModel::single() const { return whole_ ? 1 : device_.model.single; }
double DeviceModel::far_cycles() const {
  return (scalar_.is_complex ? device_.model.complex_far : 1) / device_.model.far;
}
/// Multiprocessors that wait for the one with the longest rows; sorted segments begin with these.
double DeviceModel::tail() const {
  return device_.model.tail * std::min(3.0, rows_.imbalance() - 1) * body();
}
/// Several single columns a lane are about as many lanes as vectors.
double DeviceModel::time_of(SegmentStatistics const& of, bool may_spread) const {
  return time_of_lanes(choose_lanes(device_, vectors_, of, columns_ > 1 ? 3 : 1, {}, may_spread),
                       of, vectors_, device_);
}

SpmmPrediction DeviceModel::whole_rows() const {
  auto const& variant = *find_spmm_variant("rows");
  auto const rows = statistics_of_segments(rows_, variant, rows_.rows, rows_.longest);
  return {&variant, device_.model.launch + body() + tail() + time_of(rows, whole_), 0};
}

SpmmPrediction DeviceModel::listed(char const* id, std::int64_t asked) const {
  auto const& variant = *find_spmm_variant(id);
  if (asked > 0) return {&variant, cut_at(variant, asked), asked};
  SpmmPrediction best{&variant, INFINITY, 0};
  auto const consider = [&](std::int64_t segment) {
    if (double const time = cut_at(variant, segment); time < best.microseconds)
      best = {&variant, time, segment};
  };
  std::int64_t last = 0;
  for (std::int64_t const segment : tuning::device_segment_lengths) {
    last = segment;
    if (suits(segment)) consider(segment);
  }
  // the segments of a row are added up by one thread: about as many as one has entries
  while (4 * last * last < rows_.longest) consider(last *= 2);
  if (best.segment == 0) consider(std::max(last, rows_.longest));
  return best;
}
bool DeviceModel::suits(std::int64_t segment) const {
  return rows_.longest <= segment || segment <= short_segment ||
         rows_.nonzeros >= least_share * segment;
}
double DeviceModel::cut_at(SpmmVariant const& variant, std::int64_t segment) const {
  auto const& model = device_.model;
  bool const cuts = rows_.longest > segment;
  std::int64_t const rows = rows_.rows - (variant.skips_empty_rows() ? rows_.empty_rows : 0);
  std::int64_t const segments = rows + (cuts ? rows_.nonzeros / segment : 0);
  double time = model.launch + body() +
                time_of(statistics_of_segments(rows_, variant, segments, segment)) +
                model.list * as_double(segments) / device_.dram;
  if (variant.partition != SpmmPartition::sorted_segments)
    time += tail();
  else if (!cuts && rows_.imbalance() <= sorted_even)
    time *= sorted_loss;
  // the others are filled before; nothing else hides then that long rows come late
  if (variant.skips_empty_rows())
    time += model.launch + tail() + 3 * index_bytes * as_double(rows_.rows) / device_.dram;
  return cuts ? time + carried(segment) : time;
}
/// The sums of segments: written, counted, and those of the longest row added up by one thread. All
/// rows are cut where they are long, few where they are not.
double DeviceModel::carried(std::int64_t segment) const {
  auto const& model = device_.model;
  double const length = as_double(segment);
  double const segments = entries_ / length * std::min(1.0, rows_.mean() / length);
  double const in_turn = as_double(rows_.longest) / length / tuning::device_depth<1>;
  return model.launch / 2 + model.wait * in_turn + model.carry * segments * bytes(1) / device_.dram;
}

/// Indices and rows of X are read once a group; the rest is as in whole_rows.
SpmmPrediction DeviceModel::row_groups(GroupCount const& count) const {
  double const share = as_double(count.fetches) / std::max(1.0, entries_);
  double const saved = index_bytes * ((1 - share) * entries_ - as_double(count.groups));
  std::int64_t const lanes = whole_ ? vectors_ : columns_;
  double const idle = as_double(std::int64_t{1} << bits_to_hold(lanes, 30)) / as_double(lanes);
  double const body = stream_ - saved / device_.dram + idle * share * gather_;
  return {find_spmm_variant("groups"),
          device_.model.launch + body * (1 + tail() / this->body()) +
              time_of(statistics_of_groups(rows_, count)),
          0};
}

/// Values are streamed, and so are the tiles; of X, each tile fetches its rows, four vectors at
/// least, and then eight at a time. A pass takes 32 vectors, or half as many single columns. A
/// window's tiles follow each other.
SpmmPrediction DeviceModel::windows(WindowCount const& count) const {
  auto const& model = device_.model;
  std::int64_t const fetched = vectors_ <= 4 ? 4 : ceil_div(vectors_, std::int64_t{8}) * 8;
  double const passes = std::ceil(as_double(vectors_) / (whole_ ? 32 : 16));
  double const values = entries_ * as_double(std::int64_t(scalar_.bytes));
  double const streamed =
      passes * values + bytes(rows_.rows + std::min(rows_.columns, rows_.nonzeros)) +
      as_double(count.tiles) * (2 * tuning::window_rows + index_bytes * tuning::window_columns);
  double const tiles =
      as_double(count.tiles * tuning::window_columns * fetched) * tuning::device_vector_bytes;
  double const all =
      streamed / (model.stream * device_.dram) + tiles / (model.tile * device_.cycles());
  double const one = model.wait * tile_waits * as_double(count.tiles) /
                     as_double(std::max<std::int64_t>(1, count.windows));
  return {find_spmm_variant("windows"), model.launch + std::max(all, one), 0};
}

/// Whole rows whose rows of X come from the second-level cache, which the model takes for shorter
/// than they are.
double DeviceModel::full_rows() const {
  return device_.model.launch + stream_ +
         bytes(rows_.nonzeros) * single() * far_cycles() / device_.cycles();
}
double DeviceModel::shared_lanes() const {
  std::int64_t const lanes = vectors_ <= 8 ? 8 : vectors_ <= 16 ? 16 : 32;
  double const read =
      as_double(rows_.nonzeros * ceil_div(vectors_, lanes) * lanes) * tuning::device_vector_bytes;
  return device_.model.launch + stream_ + read / (device_.model.tile * device_.cycles());
}
/// Teams wait for the multiprocessor with most of them; a tile takes as long however full it is.
double DeviceModel::shared_windows() const {
  std::int64_t const groups = shared_window_groups(vectors_);
  std::int64_t const teams = ceil_div(vectors_, 8 * groups) *
                             ceil_div(rows_.rows, std::int64_t{tuning::shared_window_rows});
  std::int64_t const tiles = ceil_div(teams, std::int64_t{device_.multiprocessors}) *
                             ceil_div(rows_.columns, std::int64_t{tuning::shared_window_columns});
  std::int64_t const products = std::int64_t{16} * tuning::shared_window_rows *
                                tuning::shared_window_columns * (scalar_.is_complex ? 2 : 1);
  double const cycles =
      as_double(products * groups) / device_.model.tensor + device_.model.tile_start;
  return device_.model.launch + as_double(tiles) * cycles / device_.clock;
}
SpmmPrediction DeviceModel::shared_tiles(TileForms const& forms) const {
  double const lanes = forms.lanes ? shared_lanes() : INFINITY;
  double const windows = forms.windows ? shared_windows() : INFINITY;
  return {find_spmm_variant("shared_tiles"),
          whole_rows().microseconds * std::min(lanes, windows) / full_rows(), 0};
}
bool DeviceModel::windows_take_tiles(TileForms const& forms) const {
  return forms.windows && (!forms.lanes || shared_windows() <= shared_lanes());
}

double DeviceModel::time_of(SpmmChoice const& choice, GroupCount const& groups,
                            WindowCount const& windows) const {
  auto const& variant = *choice.variant;
  auto const prediction = variant.lists_groups()     ? row_groups(groups)
                          : variant.lists_windows()  ? this->windows(windows)
                          : variant.stages_tiles()   ? shared_tiles({true})
                          : variant.lists_segments() ? listed(variant.id.data(), choice.segment)
                                                     : whole_rows();
  return prediction.microseconds;
}

/// A warp waits for its longest row, and where its rows have other columns than neighbouring ones,
/// each lane's loads are on their own, two sectors each (62,032 points of a mesh, n = 32: 57.9 us).
double DeviceModel::by_columns() const {
  auto const& model = device_.model;
  std::int64_t const width =
      column_bytes(columns_, scalar_.bytes) / static_cast<std::int64_t>(scalar_.bytes);
  std::int64_t const passes = ceil_div(columns_, width);
  double const numbers =
      as_double((passes == 1 ? columns_ : passes * width) * (scalar_.is_complex ? 2 : 1));
  double const off = 1 - rows_.diagonal();  // a grid's lines end in groups that do not count
  double const walk = model.lane_row * rows_.imbalance() * numbers +
                      off * off * as_double(columns_) * 2 * sector_bytes / model.far;
  return model.launch + std::max(stream_ + walk * entries_ / device_.cycles(),
                                 model.wait * as_double(rows_.longest * passes));
}
double DeviceModel::copy(std::int64_t rows) const {
  return device_.model.launch + 2 * bytes(rows) / (device_.model.stream * device_.dram);
}
/// Sectors of which one number is used: of X and Y once, and of X as the entries ask for it, the
/// more often the more columns push them out of the first-level cache.
double DeviceModel::strided() const {
  double const once = as_double((rows_.rows + rows_.columns) * columns_);
  double const asked = entries_ * as_double(std::min<std::int64_t>(columns_, 8) * columns_) / 8;
  return sector_bytes * (once / (device_.model.stream * device_.dram) +
                         asked / (device_.model.far * device_.cycles()));
}

double DeviceModel::near_over_far(double far) const {
  auto const& model = device_.model;
  double const saved = std::min(far, 1 - rows_.diagonal()) * bytes(rows_.nonzeros) *
                       (far_cycles() - 1 / model.near) * single() / device_.cycles();
  return 1 - saved / body();
}

}  // namespace blockspan::detail
