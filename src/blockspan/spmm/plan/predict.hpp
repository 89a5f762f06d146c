#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/row_statistics.hpp>

namespace blockspan::detail {

/// Rows of X that groups may fetch, at most, to come into question.
inline std::int64_t most_fetches_of_groups(RowStatistics const& rows) {
  return static_cast<std::int64_t>(static_cast<double>(rows.nonzeros) / tuning::group_least_share);
}
inline bool groups_are_worth_it(RowStatistics const& rows, GroupCount const& groups) {
  return groups.fetches > 0 && groups.fetches <= most_fetches_of_groups(rows);
}

/// How a device product reads X and writes Y where their rows are not contiguous.
enum class BlockAccess {
  strided,          ///< number by number, with the lanes of the row-major product
  by_columns,       ///< a lane owns a row; neighbouring lanes read neighbours of a column
  row_major_copies  ///< of X and Y, whichever needs one
};

/// The access expected to be the fastest for column-major blocks, for the variant chosen for
/// row-major ones.
inline BlockAccess column_major_access(RowStatistics const& rows, SpmmChoice const& choice,
                                       GroupCount const& groups, WindowCount const& windows,
                                       int columns, std::size_t scalar_bytes,
                                       bool may_go_by_columns) {
  int const doubles = columns_of_doubles(columns, scalar_bytes);
  DeviceModel const model(rows, doubles + doubles % 2);
  auto const& variant = *choice.variant;
  double const row_major =
      variant.lists_groups()    ? model.row_groups(groups).microseconds
      : variant.lists_windows() ? tuning::model_window_time * model.windows(windows).microseconds
      : variant.stages_tiles()  ? model.shared_tiles({true}).microseconds
      : variant.lists_pieces()  ? model.listed(variant.id, choice.piece).microseconds
                                : model.whole_rows().microseconds;
  auto const elements = static_cast<double>(rows.rows + rows.columns) * columns;
  double const strided = row_major + tuning::model_strided_element * elements +
                         tuning::model_strided * std::min(columns, tuning::model_strided_columns) *
                             static_cast<double>(rows.nonzeros) * columns;
  double const copies =
      row_major + model.copy_time(static_cast<double>(rows.columns)) +
      (variant.writes_any() ? 0 : model.copy_time(static_cast<double>(rows.rows)));
  double const by_columns = may_go_by_columns ? model.by_columns() : INFINITY;
  if (by_columns <= std::min(copies, strided)) return BlockAccess::by_columns;
  return copies < strided ? BlockAccess::row_major_copies : BlockAccess::strided;
}

/// What windows of rows need to come into question: nonzeros of a mean row, and those that a row of
/// X which they fetch must serve, on average.
struct WindowNeeds {
  double row;
  double share;
};
inline WindowNeeds window_needs(RowStatistics const& rows, int columns,
                                std::size_t scalar_bytes = sizeof(double)) {
  if (columns <= tuning::window_few_columns)
    return {tuning::window_least_row_of_few, tuning::window_least_share_of_few};
  bool const scattered = rows.diagonal() < tuning::window_scattered_diagonal &&
                         rows.imbalance() <= tuning::window_scattered_imbalance &&
                         rows.rows >= tuning::window_scattered_rows;
  if (scattered && scalar_bytes == sizeof(double))
    return {tuning::window_least_row_scattered, tuning::window_least_share_scattered};
  return {tuning::window_least_row, tuning::window_least_share};
}

/// Whether they do before anything is known of their columns ...
inline bool may_take_windows(RowStatistics const& rows, int columns,
                             std::size_t scalar_bytes = sizeof(double)) {
  return columns >= tuning::window_least_columns && rows.rows >= tuning::window_least_rows &&
         rows.mean() >= window_needs(rows, columns, scalar_bytes).row &&
         rows.longest <= tuning::window_longest_row;
}
/// ... and after that.
inline bool windows_are_worth_it(RowStatistics const& rows, WindowCount const& windows,
                                 double least_share = tuning::window_least_share) {
  double const places = tuning::window_columns * static_cast<double>(windows.tiles);
  return windows.tiles > 0 && windows.tiles < tuning::window_most_tiles / 2 &&
         least_share * places <= static_cast<double>(rows.nonzeros);  // tiles are an estimate
}

/// Whether tiles of X that a team stages are worth it: panels that are used, and places full
/// enough, but not fuller than what is staged of a row, and teams enough.
template <int Lanes>
bool panels_are_worth_it(RowStatistics const& rows, int packs) {
  constexpr std::int64_t team_rows = tuning::shared_tile_warps * tuning::shared_tile_warp_rows;
  std::int64_t const panels = ceil_div(packs, Lanes);
  double const used = static_cast<double>(packs) / static_cast<double>(panels * Lanes);
  double const fill = rows.mean() / static_cast<double>(rows.columns);
  double const least =
      Lanes > 8 ? tuning::shared_tile_plan_fill : tuning::shared_tile_plan_fill_of_few;
  double const most = tuning::shared_tile_most_staged * tuning::shared_tile_entries<Lanes> /
                      tuning::shared_tile_rows<Lanes>;
  return used >= tuning::shared_tile_used && least <= fill && fill <= most &&
         panels * ceil_div(rows.rows, team_rows) >= tuning::shared_tile_least_teams;
}
inline bool tiles_are_worth_it(RowStatistics const& rows, int columns) {
  int const packs = columns / 2;
  if (packs <= 8) return panels_are_worth_it<8>(rows, packs);
  return packs <= 16 ? panels_are_worth_it<16>(rows, packs) : panels_are_worth_it<32>(rows, packs);
}

/// `piece`: asked for; 0: the model's choice. `windows`: without tiles where there are none to
/// take.
inline std::vector<SpmmPrediction> predict_device(RowStatistics const& rows, std::int64_t piece,
                                                  int columns, GroupCount const& groups = {},
                                                  WindowCount const& windows = {},
                                                  TileForms tiles = {}) {
  DeviceModel const model(rows, columns);
  std::vector<SpmmPrediction> all{model.whole_rows(), model.listed("segments", piece),
                                  model.listed("segments_sorted", piece),
                                  model.listed("nonempty_rows", piece)};
  if (rows.rows >= tuning::device_group_least_rows && groups_are_worth_it(rows, groups))
    all.push_back(model.row_groups(groups));
  if (windows_are_worth_it(rows, windows, window_needs(rows, columns).share))
    all.push_back(model.windows(windows));
  tiles.lanes = tiles.lanes && tiles_are_worth_it(rows, columns);
  if (tiles.any()) all.push_back(model.shared_tiles(tiles));
  return all;
}

/// Hosts: a row is the work of one core, so a product takes at least as long as its longest row;
/// the list of the pieces costs a little. Numbers of one core, reasoned.
inline std::vector<SpmmPrediction> predict_host(RowStatistics const& rows, std::int64_t piece,
                                                int columns, GroupCount const& groups = {}) {
  double const each = tuning::host_model_entry + tuning::host_model_column * columns;  // us
  double const all = each * static_cast<double>(rows.nonzeros);
  double const list = 12 * static_cast<double>(rows.rows) * tuning::host_model_byte;
  bool const long_rows = rows.longest > (piece > 0 ? piece : tuning::host_longest_whole_row);
  double const longest = long_rows ? each * static_cast<double>(rows.longest) : 0;
  std::vector<SpmmPrediction> times{
      {find_spmm_variant("warp_per_row_packs"), all + longest, 0},
      {find_spmm_variant("segments"), all + list, piece > 0 ? piece : tuning::host_piece}};
  if (groups_are_worth_it(rows, groups)) {
    double const saved = tuning::host_model_group * tuning::host_model_column *
                         std::max(0, columns - tuning::host_model_group_columns) *
                         static_cast<double>(rows.nonzeros - groups.fetches);
    times.push_back({find_spmm_variant("row_group"), all + longest - saved, 0});
  }
  return times;
}

}  // namespace blockspan::detail
