#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <blockspan/spmm/detail/inner/device_shape.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/row_statistics.hpp>

namespace blockspan::detail {

/// Devices, column-major X: bytes of its row that a lane owns at a time.
inline int column_bytes(std::int64_t columns, std::size_t scalar_bytes) {
  bool const few =
      columns * static_cast<std::int64_t>(scalar_bytes) <= tuning::device_few_column_bytes;
  return few ? tuning::device_few_column_bytes : tuning::device_column_bytes;
}

/// Whether a team keeps the entries of its rows, of so many bytes each, in scratch meanwhile.
inline bool stages_columns(RowStatistics const& rows, std::int64_t columns,
                           std::size_t scalar_bytes, std::size_t entry_bytes) {
  std::int64_t const entries = tuning::staged_column_rows * rows.longest;
  auto const bytes = static_cast<std::int64_t>(entry_bytes) * (entries + entries / 16);
  return columns * static_cast<std::int64_t>(scalar_bytes) > tuning::device_column_bytes &&
         bytes <= tuning::staged_column_bytes;
}

// The model of the plan: what a product with `columns` columns of doubles would take with each
// variant that can win, from the statistics of the rows (and their groups) alone. It is meant to
// order them; the times themselves are rough. Pure functions of their arguments, on any host.

/// Columns of doubles that are as wide, and as many packs, as so many columns of other scalars: odd
/// where packs do not fit.
inline int columns_of_doubles(std::int64_t columns, std::size_t scalar_bytes) {
  std::int64_t const bytes = columns * static_cast<std::int64_t>(scalar_bytes);
  std::int64_t const doubles = ceil_div(bytes, std::int64_t{sizeof(double)});
  bool const packs_fit = bytes % tuning::device_pack_bytes == 0;
  return static_cast<int>(packs_fit || doubles % 2 == 1 ? doubles : doubles + 1);
}

/// What a device product has to do whatever the variant, and what the variants add to it.
class DeviceModel {
 public:
  DeviceModel(RowStatistics const& rows, int columns) : rows_(rows), columns_(columns) {
    auto const entries = static_cast<double>(rows.nonzeros);
    double const scalars =
        static_cast<double>(rows.rows) + std::min(static_cast<double>(rows.columns), entries);
    stream_ = (entries * 12 + 4 * static_cast<double>(rows.rows) + 8 * columns * scalars) /
              tuning::model_stream;
    gather_ = 8 * columns * entries / tuning::model_gather;
  }

  SpmmPrediction whole_rows() const {
    auto const& variant = *find_spmm_variant("warp_per_row_packs");
    double const time =
        common() + tail() +
        time_of(statistics_of_pieces(rows_, variant, rows_.rows, rows_.longest), packs_fit());
    bool const by_elements =
        !packs_fit() && without_packs(variant, rows_, columns_).worker == SpmmWorker::element_item;
    return {&variant, by_elements ? 0.9 * common() : time, 0};
  }

  /// A variant that lists pieces, with the length of them that suits it; `asked`: that one, if not
  /// zero.
  SpmmPrediction listed(std::string_view id, std::int64_t asked) const {
    auto const& variant = *find_spmm_variant(id);
    if (asked > 0) return {&variant, cut_at(variant, asked), asked};
    SpmmPrediction best{&variant, INFINITY, 0};
    auto const consider = [&](std::int64_t piece) {
      if (double const time = cut_at(variant, piece); time < best.microseconds)
        best = {&variant, time, piece};
    };
    std::int64_t last = 0;
    for (std::int64_t const piece : tuning::device_pieces) {
      last = piece;
      if (suits(piece)) consider(piece);
    }
    // the parts of a row are added up by one thread: about as many as a part has entries
    while (4 * last * last < rows_.longest) consider(last *= 2);
    if (best.piece == 0) consider(std::max(last, rows_.longest));
    return best;
  }

  /// Indices and rows of X are read once a group; the rest is as in whole_rows.
  SpmmPrediction row_groups(GroupCount const& count) const {
    double const share = static_cast<double>(count.fetches) /
                         static_cast<double>(std::max<std::int64_t>(1, rows_.nonzeros));
    double const indices = 4 * static_cast<double>(rows_.nonzeros) / tuning::model_stream;
    double const stream = stream_ - (1 - share) * indices +
                          4 * static_cast<double>(count.groups) / tuning::model_stream;
    bool const one_by_one = !packs_fit() && columns_ > 1;
    auto const packs = ceil_div(std::int64_t{columns_}, std::int64_t{2});
    double const idle = static_cast<double>(1 << bits_to_hold(packs, 30)) / packs;  // lanes
    double const body = body_time(stream, idle * share * gather_) *
                        (one_by_one ? tuning::model_groups_without_packs : 1);
    return {find_spmm_variant("row_group"),
            tuning::model_launch + body * (1 + tail_share()) +
                time_of(statistics_of_groups(rows_, count)),
            0};
  }

  /// Values are streamed, and so are the tiles; of X, each tile fetches its rows, eight columns at
  /// least, and then sixteen at a time. Where packs do not fit, a pass takes half as many.
  SpmmPrediction windows(WindowCount const& count) const {
    auto const tiles = static_cast<double>(count.tiles);
    bool const few = columns_ <= 8;
    double const fetched = few ? 8 : 16 * std::ceil(columns_ / 16.0);
    double const passes = std::ceil(columns_ / (packs_fit() ? 64.0 : 32.0));
    double const again = (passes - 1) * 8 * static_cast<double>(rows_.nonzeros);
    double const of_tile = (sizeof(int) + sizeof(double) * fetched) * tuning::window_columns;
    double const indices = 4 * static_cast<double>(rows_.nonzeros) / tuning::model_stream;
    double const streamed =
        (stream_ - indices) * tuning::model_stream + 2 * tiles * tuning::window_rows + again;
    return {
        find_spmm_variant("tensor_window"),
        tuning::model_window_launch + streamed / tuning::model_window_stream +
            of_tile * tiles / (few ? tuning::model_window_fetch_few : tuning::model_window_fetch),
        0};
  }

  /// A copy of so many rows of X or Y from one layout to another.
  double copy_time(double rows) const {
    double const bytes = 2 * sizeof(double) * rows * columns_;
    bool const cached = bytes <= tuning::model_copy_cached_bytes;
    return tuning::model_launch + bytes / (cached ? tuning::model_copy_cached : tuning::model_copy);
  }

  /// Tiles of X that a team stages.
  SpmmPrediction shared_tiles() const {
    return {find_spmm_variant("tile_staged"),
            tuning::model_shared_tiles * whole_rows().microseconds, 0};
  }

  /// Time of whole rows whose rows of X come from the first-level cache as usual over that of rows
  /// with this part of them far apart, which come from further away.
  double near_over_far(double far) const {
    double const near = body_time(stream_, gather_);
    return near / (near + (1 - tuning::model_body_gather) * far * gather_);
  }

  /// Whole rows of column-major blocks, a lane a row: a warp waits for its longest row, and where
  /// its rows have other columns than neighbouring ones, each lane's loads are on their own.
  double by_columns() const {
    int const bytes = column_bytes(columns_, sizeof(double));
    double const passes = std::ceil(columns_ * sizeof(double) / static_cast<double>(bytes));
    double const each = tuning::model_column_entry + tuning::model_column_byte * bytes;
    double const off = 1 - rows_.diagonal();  // a grid's lines end in groups that do not count
    double const scattered = tuning::model_column_scattered * off * off * columns_;
    auto const entries = static_cast<double>(rows_.nonzeros);
    double const wait = tuning::model_column_wait * static_cast<double>(rows_.longest) * passes;
    if (stages_columns(rows_, columns_, sizeof(double), sizeof(double) + sizeof(int))) {
      double const walk = tuning::model_staged_column_entry * passes * rows_.imbalance();
      return tuning::model_launch +
             std::max(tuning::model_staged_column_stream * stream_ + (walk + scattered) * entries,
                      wait);
    }
    double const walk = (each * passes * rows_.imbalance() + scattered) * entries;
    return tuning::model_launch + std::max({stream_, walk, wait});
  }

  SpmmPrediction adaptive() const {
    double const packs = std::ceil(columns_ / 2.0);
    auto const at_most = [&](std::int64_t entries) {
      return static_cast<double>(std::min<std::int64_t>(rows_.longest, entries));
    };
    // a team walks a long row together, a thread one of the others, once for each 32 packs
    double const waits = tuning::model_team_wait_long * at_most(tuning::team_longest) * packs /
                             tuning::device_threads +
                         (packs > 1 ? tuning::model_team_wait : tuning::model_team_wait_one_pack) *
                             at_most(tuning::team_stream) * std::max(1.0, packs / 32);
    double const streaming = packs > 1       ? tuning::model_team_stream
                             : columns_ == 1 ? tuning::model_team_stream_one_column
                                             : tuning::model_team_stream_one_pack;
    double const work = streaming * stream_ + tuning::model_team_gather * gather_ *
                                                  (packs > 1 ? tuning::model_team_wide : 1);
    bool const all_long = rows_.mean() >= static_cast<double>(tuning::team_longest);
    double const launch =
        columns_ == 1 ? tuning::model_team_launch_one_column : tuning::model_team_launch;
    return {find_spmm_variant("adaptive"),
            launch + work * (all_long ? tuning::model_team_long_rows : 1) + waits, 0};
  }

 private:
  bool packs_fit() const { return columns_ % 2 == 0; }
  double common() const { return tuning::model_launch + body_time(stream_, gather_); }
  double body_time(double stream, double gather) const {
    return tuning::model_body_stream * stream +
           tuning::model_body_gather * gather * (packs_fit() ? 1 : tuning::model_without_packs);
  }
  /// Multiprocessors that wait for the one with the longest rows; sorted pieces begin with these.
  double tail() const { return tail_share() * body_time(stream_, gather_); }
  double tail_share() const { return tuning::model_tail * std::min(3.0, rows_.imbalance() - 1); }
  double time_of_shape(SpmmVariant const& variant, std::int64_t pieces, std::int64_t piece) const {
    return time_of(statistics_of_pieces(rows_, variant, pieces, piece));
  }
  double time_of(PieceStatistics const& of, bool may_spread = false) const {
    // several single columns a lane are about as many lanes as packs
    auto const packs = ceil_div(std::int64_t{columns_}, std::int64_t{2});
    return shape_time(device_shape(true, packs, of, columns_ > 1 ? 3 : 1, {}, may_spread), of,
                      packs);
  }

  bool suits(std::int64_t piece) const {
    if (rows_.longest <= piece) return true;  // it cuts nothing
    bool const stands_out =
        static_cast<double>(rows_.longest) > tuning::device_outlier * rows_.mean() ||
        rows_.longest > tuning::device_whole_row;
    bool const too_long = piece > tuning::device_short_piece &&
                          rows_.nonzeros < tuning::device_piece_least_share * piece;
    bool const too_short = piece < std::end(tuning::device_pieces)[-1] &&
                           rows_.nonzeros > tuning::device_piece_most_share * piece;
    return (columns_ <= tuning::device_fitted_columns || stands_out) && !too_long && !too_short;
  }
  double cut_at(SpmmVariant const& variant, std::int64_t piece) const {
    bool const cuts = rows_.longest > piece;
    std::int64_t const rows = rows_.rows - (variant.skips_empty_rows() ? rows_.empty_rows : 0);
    std::int64_t const pieces = rows + (cuts ? rows_.nonzeros / piece : 0);
    double time = common() + time_of_shape(variant, pieces, piece) +
                  tuning::model_list * 12 * static_cast<double>(pieces) / tuning::model_stream;
    time += variant.partition == SpmmPartition::sorted_segments ? tuning::model_sorted : tail();
    if (variant.skips_empty_rows())
      time += tail() + tuning::model_launch +
              tuning::model_empty_rows * 4 * static_cast<double>(rows_.rows) / tuning::model_stream;
    return cuts ? time + carried(piece) : time;
  }
  /// The sums of parts: written, counted, and those of the longest row added up by one thread. All
  /// rows are cut where they are long, few where they are not.
  double carried(std::int64_t piece) const {
    auto const length = static_cast<double>(piece);
    double const parts =
        static_cast<double>(rows_.nonzeros) / length * std::min(1.0, rows_.mean() / length);
    return tuning::model_cut + tuning::model_part * static_cast<double>(rows_.longest) / length +
           tuning::model_carry * parts * 8 * columns_;
  }

  RowStatistics const& rows_;
  int columns_;
  double stream_, gather_;
};

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
      : variant.stages_tiles()  ? model.shared_tiles().microseconds
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

/// Whether windows of rows come into question before anything is known of their columns ...
inline bool may_take_windows(RowStatistics const& rows, int columns) {
  return columns >= tuning::window_least_columns && rows.rows >= tuning::window_least_rows &&
         rows.mean() >= tuning::window_least_row && rows.longest <= tuning::window_longest_row;
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
                                                  bool shared_tiles = false) {
  DeviceModel const model(rows, columns);
  std::vector<SpmmPrediction> all{model.whole_rows(), model.listed("segments", piece),
                                  model.listed("segments_sorted", piece),
                                  model.listed("nonempty_rows", piece), model.adaptive()};
  if (rows.rows >= tuning::device_group_least_rows && groups_are_worth_it(rows, groups))
    all.push_back(model.row_groups(groups));
  if (windows_are_worth_it(rows, windows)) all.push_back(model.windows(windows));
  if (shared_tiles && tiles_are_worth_it(rows, columns)) all.push_back(model.shared_tiles());
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
