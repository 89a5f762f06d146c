#include <algorithm>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {
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
  gather_ = gather(1 - rows.diagonal());
}

double DeviceModel::gather(double far) const {
  return bytes(rows_.nonzeros) * single() * ((1 - far) / device_.model.near + far * far_cycles()) /
         device_.cycles();
}

double DeviceModel::bytes(std::int64_t count) const {
  return as_double(count) * as_double(columns_ * static_cast<std::int64_t>(scalar_.bytes));
}
double DeviceModel::single() const { return whole_ ? 1 : device_.model.single; }
double DeviceModel::far_cycles() const {
  return (scalar_.is_complex ? device_.model.complex_far : 1) / device_.model.far;
}
/// Sorted segments begin with these.
double DeviceModel::tail() const {
  return device_.model.tail * std::min(3.0, rows_.imbalance() - 1) * body();
}
/// Several single columns a lane are about the same count of lanes as vectors.
double DeviceModel::time_of(SegmentStatistics const& of, bool may_spread) const {
  return time_of_lanes(choose_lanes(device_, vectors_, of, columns_ > 1 ? 3 : 1, {}, may_spread),
                       of, vectors_, device_);
}

/// A warp waits for its longest row, and where its rows have other columns than neighbouring ones,
/// each lane's loads are on their own, two sectors each (62,032 points of a mesh, n = 32: 57.9 us).
double DeviceModel::by_columns() const {
  auto const& model = device_.model;
  std::int64_t const width =
      column_bytes(columns_, scalar_.bytes) / static_cast<std::int64_t>(scalar_.bytes);
  std::int64_t const passes = ceil_div(columns_, width);
  double const reals =
      as_double((passes == 1 ? columns_ : passes * width) * (scalar_.is_complex ? 2 : 1));
  double const off = 1 - rows_.diagonal();  // a grid's lines end in groups that do not count
  double const walk = model.lane_row * rows_.imbalance() * reals +
                      off * off * as_double(columns_) * 2 * tuning::sector_bytes / model.far;
  return model.launch + std::max(stream_ + walk * entries_ / device_.cycles(),
                                 model.wait * as_double(rows_.longest * passes));
}
double DeviceModel::copy(std::int64_t rows) const {
  return device_.model.launch + 2 * bytes(rows) / (device_.model.stream * device_.dram);
}
/// Sectors of which one element is used: X and Y once, and gathers of X, which miss the first-level
/// cache more often the more columns there are.
double DeviceModel::strided() const {
  double const once = as_double((rows_.rows + rows_.columns) * columns_);
  double const asked = entries_ * as_double(std::min<std::int64_t>(columns_, 8) * columns_) / 8;
  return tuning::sector_bytes * (once / (device_.model.stream * device_.dram) +
                                 asked / (device_.model.far * device_.cycles()));
}

double DeviceModel::near_over_far(double far) const {
  auto const& model = device_.model;
  double const saved = std::min(far, 1 - rows_.diagonal()) * bytes(rows_.nonzeros) *
                       (far_cycles() - 1 / model.near) * single() / device_.cycles();
  return 1 - saved / body();
}

}  // namespace blockspan::products
