#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
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
    auto const pieces = statistics_of_pieces(rows_, variant, rows_.rows, rows_.longest);
    return {&variant, common() + tail() + time_of(pieces, packs_fit()), 0};
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

  /// Tiles of X that a team stages, for lanes or for windows of rows.
  SpmmPrediction shared_tiles(TileForms const& forms) const {
    double const by_lanes =
        forms.lanes ? tuning::model_shared_tiles * whole_rows().microseconds : INFINITY;
    return {find_spmm_variant("tile_staged"), std::min(by_lanes, shared_windows(forms)), 0};
  }
  /// Whether windows of rows take such tiles in less time than lanes.
  bool windows_take_tiles(TileForms const& forms) const {
    if (!forms.windows || !forms.lanes) return forms.windows;
    std::int64_t const lanes = packs() <= 8 ? 8 : packs() <= 16 ? 16 : 32;
    auto const room = static_cast<double>(ceil_div(packs(), lanes) * lanes);
    double const fill = rows_.mean() / static_cast<double>(rows_.columns);
    double const entries = fill * tuning::shared_window_rows * tuning::shared_window_columns;
    std::int64_t const panels = ceil_div(packs(), std::int64_t{8} * window_groups());
    return static_cast<double>(panels) * window_tile(forms) <=
           tuning::model_shared_tiles * full_row_entry(forms) * entries *
               tuning::model_multiprocessors * room / static_cast<double>(packs());
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

 private:
  /// A part of the time of whole rows, which the model takes for shorter than they are where rows
  /// are so full. Teams wait for the multiprocessor with most of them; a tile takes as long however
  /// full it is.
  double shared_windows(TileForms const& forms) const {
    if (!forms.windows) return INFINITY;
    std::int64_t const teams = ceil_div(packs(), std::int64_t{8} * window_groups()) *
                               ceil_div(rows_.rows, std::int64_t{tuning::shared_window_rows});
    auto const turns =
        static_cast<double>(ceil_div(teams, std::int64_t{tuning::model_multiprocessors}) *
                            ceil_div(rows_.columns, std::int64_t{tuning::shared_window_columns}));
    return whole_rows().microseconds *
           (tuning::model_shared_window_launch + turns * window_tile(forms)) /
           (full_row_entry(forms) * static_cast<double>(rows_.nonzeros));
  }
  int window_groups() const { return shared_window_groups(packs()); }
  /// Microseconds of a tile of SharedWindows, and what an entry of so full rows takes of the
  /// machine by whole rows.
  double window_tile(TileForms const& forms) const {
    return tuning::model_shared_window_tile +
           window_groups() * (forms.are_complex ? tuning::model_shared_window_complex_group
                                                : tuning::model_shared_window_group);
  }
  double full_row_entry(TileForms const& forms) const {
    return (tuning::model_full_row_entry + tuning::model_full_row_column * columns_) *
           (forms.are_complex ? tuning::model_full_row_complex : 1);
  }

  std::int64_t packs() const { return ceil_div(std::int64_t{columns_}, std::int64_t{2}); }
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
    return shape_time(choose_lanes(true, packs, of, columns_ > 1 ? 3 : 1, {}, may_spread), of,
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

/// What a launch reads of A at least: values of so many bytes, columns as it finds them, row
/// offsets.
inline std::int64_t bytes_of_matrix(PatternFacts const& A, Launch const& launch,
                                    std::size_t value_bytes) {
  auto const times = [](std::int64_t count, std::size_t each) {
    return count * static_cast<std::int64_t>(each);
  };
  std::int64_t const rows = A.rows.rows / A.block;
  auto const indices = [&] {
    switch (launch.kernel) {
      case SpmmKernelKind::groups:
        return times(A.groups.fetches / A.block, sizeof(int));
      case SpmmKernelKind::windows:
        return times(A.windows.tiles, tuning::window_columns * sizeof(std::uint16_t) + sizeof(int) +
                                          tuning::window_rows * sizeof(std::uint16_t));
      case SpmmKernelKind::shared_windows:
        return times(A.window_masks, sizeof(std::uint64_t));
      default:
        return times(A.rows.nonzeros, launch.narrow ? sizeof(std::int16_t) : sizeof(int));
    }
  };
  return times(A.rows.nonzeros, value_bytes) + indices() + times(rows + 1, sizeof(int));
}

}  // namespace blockspan::detail
