#include <algorithm>
#include <bit>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/lanes.hpp>

namespace blockspan::detail {
namespace {

// Figures are microseconds on one H200 in double, unless they say otherwise.

/// A wide block is multiplied in panels where A has a band, but the rows of X within it do not stay
/// in the cache at that width: they may take this share of it. Bytes of a row of a panel. 7-point
/// 128^3, n = 80, 96, 128 in one product and in panels 1415, 1667, 2189; 1077, 1268, 1681; but
/// 27-point 96^3 (19,000 rows in use), n = 128 1470, 1610.
constexpr double panel_diagonal = 0.5;
constexpr std::int64_t panel_bytes = 512, panel_cache_share = 3;

/// Or where a few vectors more than a power of two leave most lanes idle: a panel is at least this
/// many times what is left over. 27-point, n = 66 1330, 950; 80 1316, 1054; of short rows a few
/// columns cost too much: 7-point, n = 34 591, 780; and not where rows are cut: R-MAT 18, n = 34
/// 217, 231.
constexpr std::int64_t panel_least_share = 8;

/// Windows: bytes of a row of X in a panel at least, and those left over at most. 27-point, n = 33,
/// 40 678, 633; 603, 536; but n = 63 757, 890; elasticity, n = 48 293, 305.
constexpr std::int64_t panel_window_bytes = 256, panel_window_rest = 64;

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

}  // namespace blockspan::detail
