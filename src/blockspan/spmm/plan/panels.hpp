#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan::detail {

/// Devices: how many columns of a row-major block of `columns` columns the next product takes; the
/// others follow in products of their own. All of them, but where
/// - rows follow a diagonal, but the rows of X in use do not stay in the cache with so many
///   columns: then as many as a warp's lanes take in one pass;
/// - a few packs (or single columns) more than a power of two leave most lanes of a pass idle: then
///   the power of two.
///
/// `reach`: as PatternSummary has it. `packs`: the kernel takes whole packs.
inline std::int64_t columns_of_panel(SpmmVariant const& variant, RowStatistics const& rows,
                                     std::int64_t reach, std::int64_t columns,
                                     std::size_t scalar_bytes, bool packs) {
  bool const by_windows = variant.lists_windows();
  bool const by_rows = variant.is_direct() || variant.lists_groups();
  if (!(by_rows || by_windows) || rows.rows < tuning::device_few_pieces) return columns;
  auto const scalar = static_cast<std::int64_t>(scalar_bytes);
  if (by_windows) {
    auto const whole =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(columns)));
    bool const few_more = columns - whole <= tuning::panel_window_rest / scalar;
    return whole * scalar >= tuning::panel_window_bytes && few_more ? whole : columns;
  }
  std::int64_t const widest = tuning::panel_bytes / scalar;
  std::int64_t const in_use = std::min(rows.columns, 2 * reach + 1) * columns * scalar;
  bool const follows_diagonal = rows.diagonal() >= tuning::panel_diagonal;
  if (columns > widest && follows_diagonal && in_use > tuning::panel_cache_bytes) return widest;
  bool const is_short = rows.mean() < tuning::device_short_row;
  if (variant.lists_pieces() || is_short) return columns;
  std::int64_t const lane = packs ? std::int64_t{tuning::device_pack_bytes} : scalar;
  auto const all = static_cast<std::uint64_t>(columns * scalar / lane);
  auto const whole = static_cast<std::int64_t>(std::bit_floor(all)) * lane;  // bytes
  std::int64_t const rest = columns * scalar - whole;
  bool const mostly_idle = rest > 0 && tuning::panel_least_share * rest <= whole;
  return whole >= tuning::panel_bytes && mostly_idle ? whole / scalar : columns;
}

}  // namespace blockspan::detail
