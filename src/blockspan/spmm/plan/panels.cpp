#include <algorithm>
#include <bit>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/lanes.hpp>

namespace blockspan::products {
namespace {

using namespace tuning;

std::int64_t floor_of_two(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
}

}  // namespace

std::int64_t columns_of_panel(SpmmVariant const& variant, RowStatistics const& rows,
                              std::int64_t half_bandwidth, std::int64_t columns,
                              std::size_t scalar_bytes, bool vectorized,
                              DeviceFacts const& device) {
  bool const by_windows = variant.lists_windows();
  bool const direct = variant.by_rows || variant.lists_groups();
  if (!(direct || by_windows) || rows.rows < few_segments(device)) return columns;
  auto const scalar = static_cast<std::int64_t>(scalar_bytes);
  if (by_windows) {
    std::int64_t const whole = floor_of_two(columns);
    bool const few_more = (columns - whole) * scalar <= panel_window_rest;
    return whole * scalar >= panel_window_bytes && few_more ? whole : columns;
  }
  std::int64_t const widest = panel_bytes / scalar;
  std::int64_t const in_use = std::min(rows.columns, 2 * half_bandwidth + 1) * columns * scalar;
  if (columns > widest && rows.diagonal() >= panel_diagonal &&
      panel_cache_share * in_use > device.cache)
    return widest;
  if (variant.lists_segments() || rows.mean() < tuning::device_short_row) return columns;
  std::int64_t const lane = vectorized ? std::int64_t{tuning::device_vector_bytes} : scalar;
  std::int64_t const whole = floor_of_two(columns * scalar / lane) * lane;  // bytes
  std::int64_t const rest = columns * scalar - whole;
  bool const mostly_idle = rest > 0 && panel_least_share * rest <= whole;
  return whole >= panel_bytes && mostly_idle ? whole / scalar : columns;
}

}  // namespace blockspan::products
