#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <blockspan/spmm/detail/inner/device_shape.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/row_statistics.hpp>

namespace blockspan::detail {

// The model of the plan: what a product with `columns` columns of doubles would take with each
// variant that can win, from the statistics of the rows alone. It is meant to order them; the times
// themselves are rough. Pure functions of their arguments, on any host.

/// Entries of a piece, and the longest row that is left whole.
struct CutRule {
  std::int64_t piece;
  std::int64_t longest_whole_row;
};

inline CutRule host_cut_rule() { return {tuning::host_piece, tuning::host_longest_whole_row}; }

inline CutRule device_cut_rule(RowStatistics const& rows) {
  std::int64_t piece = rows.nonzeros < tuning::device_small ? tuning::device_piece_least / 2
                                                            : tuning::device_piece_least;
  while (piece < tuning::device_piece_most &&
         3 * piece * tuning::device_piece_share / 2 < rows.nonzeros)
    piece *= 2;
  // the parts of a row are added up by one thread: about as many as a part has entries
  while (4 * piece * piece < rows.longest) piece *= 2;
  if (rows.mean() >= static_cast<double>(tuning::device_piece_long_rows))
    piece = std::max(piece, tuning::device_piece_long_rows);
  bool const outliers = static_cast<double>(rows.longest) > tuning::device_outlier * rows.mean();
  return {piece, outliers ? piece : std::max(piece, tuning::device_whole_row)};
}

/// What a device product has to do whatever the variant, and what the variants add to it.
class DeviceModel {
 public:
  DeviceModel(RowStatistics const& rows, CutRule const& rule, int columns)
      : rows_(rows), piece_(rule.piece), columns_(columns) {
    auto const entries = static_cast<double>(rows.nonzeros);
    double const scalars =
        static_cast<double>(rows.rows) + std::min(static_cast<double>(rows.columns), entries);
    stream_ = (entries * 12 + 4 * static_cast<double>(rows.rows) + 8 * columns * scalars) /
              tuning::model_stream;
    gather_ = 8 * columns * entries / tuning::model_gather *
              (packs_fit() ? 1 : tuning::model_without_packs);
    uneven_ = std::max(0.0, rows.imbalance() - 1);
  }

  double whole_rows() const {
    double const time = tuning::model_launch + tuning::model_body * body();
    if (!packs_fit() && without_packs_by_elements()) return 0.9 * time;
    return time + tuning::model_uneven_rows * uneven_ * body() +
           tuning::model_wait_rows * batches(rows_.longest, rows_.rows);
  }
  double segments() const {
    return cut(rows_.rows, tuning::model_uneven_pieces) + tuning::model_list * list_of(rows_.rows);
  }
  double sorted_segments() const {
    return cut(rows_.rows, tuning::model_uneven_sorted) +
           tuning::model_sorted_list * list_of(rows_.rows) + tuning::model_sorted;
  }
  double nonempty_rows() const {
    auto const rows = rows_.rows - rows_.empty_rows;
    return cut(rows, tuning::model_uneven_pieces) + tuning::model_list * list_of(rows) +
           tuning::model_launch +
           tuning::model_empty_rows * 4 * static_cast<double>(rows_.rows) / tuning::model_stream;
  }
  double adaptive() const {
    double const packs = std::ceil(columns_ / 2.0);
    auto const at_most = [&](std::int64_t entries) {
      return static_cast<double>(std::min<std::int64_t>(rows_.longest, entries));
    };
    // a team walks a long row together, a thread one of the others
    double const waits =
        tuning::model_wait * at_most(tuning::team_longest) * packs / tuning::device_threads +
        (packs > 1 ? tuning::model_team_wait : tuning::model_team_wait_one_pack) *
            at_most(tuning::team_stream);
    return tuning::model_launch + tuning::model_team_stream * stream_ +
           tuning::model_team_gather * gather_ * (packs > 1 ? tuning::model_team_wide : 1) + waits;
  }

 private:
  bool packs_fit() const { return columns_ % 2 == 0; }
  bool without_packs_by_elements() const {
    return without_packs(*find_spmm_variant("warp_per_row_packs"), rows_).worker ==
           SpmmWorker::element_item;
  }
  double body() const { return std::hypot(stream_, gather_); }

  /// Loads that wait for each other until a thread has walked a piece.
  double batches(std::int64_t length, std::int64_t pieces) const {
    std::int64_t const packs = packs_fit() ? columns_ / 2 : columns_;
    double const mean =
        static_cast<double>(rows_.nonzeros) /
        static_cast<double>(std::max<std::int64_t>(1, pieces - std::min(pieces, rows_.empty_rows)));
    auto const shape = device_shape(true, packs, mean, pieces, packs_fit(), {});
    int const depth = shape.packs_per_lane == 2 ? tuning::device_depth<2> : tuning::device_depth<1>;
    return static_cast<double>(length) / shape.grid.entries() / depth;
  }
  double cut(std::int64_t rows, double uneven) const {
    bool const cuts = rows_.longest > piece_;
    std::int64_t const pieces = rows + (cuts ? rows_.nonzeros / piece_ : 0);
    double const parts =
        cuts ? static_cast<double>(rows_.longest) / static_cast<double>(piece_) : 0;
    return tuning::model_launch + body() * (tuning::model_body + uneven * std::min(uneven_, 3.0)) +
           (cuts ? tuning::model_wait : tuning::model_wait_rows) *
               batches(std::min(rows_.longest, piece_), pieces) +
           tuning::model_part * parts + (cuts ? tuning::model_cut + carried() : 0);
  }
  /// The sums of parts, written, counted and read: of all rows where they are long, of few where
  /// they are not.
  double carried() const {
    double const parts = static_cast<double>(rows_.nonzeros) / static_cast<double>(piece_) *
                         std::min(1.0, rows_.mean() / static_cast<double>(piece_));
    return columns_ * parts * (16 / tuning::model_stream + tuning::model_arrival);
  }
  double list_of(std::int64_t rows) const {
    bool const cuts = rows_.longest > piece_;
    std::int64_t const pieces = rows + (cuts ? rows_.nonzeros / piece_ : 0);
    return 12 * static_cast<double>(pieces) / tuning::model_stream;
  }

  RowStatistics const& rows_;
  std::int64_t piece_;
  int columns_;
  double stream_, gather_, uneven_;
};

inline std::vector<SpmmPrediction> predict_device(RowStatistics const& rows, CutRule const& rule,
                                                  int columns) {
  DeviceModel const model(rows, rule, columns);
  auto const of = [](std::string_view id, double time) {
    return SpmmPrediction{find_spmm_variant(id), time};
  };
  return {of("warp_per_row_packs", model.whole_rows()), of("segments", model.segments()),
          of("segments_sorted", model.sorted_segments()),
          of("nonempty_rows", model.nonempty_rows()), of("adaptive", model.adaptive())};
}

/// Hosts: a row is the work of one core, so a product takes at least as long as its longest row;
/// the list of the pieces costs a little. Numbers of one core, reasoned.
inline std::vector<SpmmPrediction> predict_host(RowStatistics const& rows, CutRule const& rule,
                                                int columns) {
  double const each = tuning::host_model_entry + tuning::host_model_column * columns;  // us
  double const all = each * static_cast<double>(rows.nonzeros);
  double const list = 12 * static_cast<double>(rows.rows) * tuning::host_model_byte;
  bool const long_rows = rows.longest > rule.longest_whole_row;
  double const longest = long_rows ? each * static_cast<double>(rows.longest) : 0;
  return {{find_spmm_variant("warp_per_row_packs"), all + longest},
          {find_spmm_variant("segments"), all + list}};
}

}  // namespace blockspan::detail
