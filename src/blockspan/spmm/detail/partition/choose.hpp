#pragma once

#include <sstream>
#include <string>

#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan_options.hpp>

namespace blockspan::detail {

/// Entries of a piece, and the longest row that is left whole.
struct CutRule {
  std::int64_t piece;
  std::int64_t longest_whole_row;
};

template <class Exec>
CutRule cut_rule(RowStatistics const& rows, SpmmPlanOptions const& options) {
  if (options.piece_length > 0) return {options.piece_length, options.piece_length};
  if (runs_on_host_v<Exec>) return {tuning::host_piece, tuning::host_longest_whole_row};
  std::int64_t const piece =
      rows.rows < tuning::device_few_rows ? tuning::device_piece_few_rows : tuning::device_piece;
  return {piece, piece};
}

/// The model. A row is the work of one team thread, so a product takes at least as long as its
/// longest row: rows above the rule's length are cut. All others stay whole, because cutting costs
/// 8 to 12 bytes a row more and gains nothing.
template <class Exec>
SpmmChoice choose_variant(RowStatistics const& rows, SpmmPlanOptions const& options) {
  CutRule const rule = cut_rule<Exec>(rows, options);
  bool const asked = options.algorithm != "auto";
  bool const long_rows = rows.longest > rule.longest_whole_row;
  auto const* const variant = find_spmm_variant(asked       ? std::string_view(options.algorithm)
                                                : long_rows ? "segments"
                                                            : "warp_per_row_packs");
  std::ostringstream reason, rejected;
  reason << (asked ? "asked for; " : "") << "the longest row has " << rows.longest
         << " nonzeros, the mean row " << rows.mean() << ", and one thread can take "
         << rule.longest_whole_row << " without holding up the others";
  if (long_rows != variant->cuts_rows && asked)
    reason << " (the plan's own choice would "
           << (long_rows ? "cut the long rows)" : "cut no row)");
  if (!variant->cuts_rows)
    rejected << "segments: " << (long_rows ? "not asked for" : "no row is long enough to be cut");
  else
    rejected << "warp_per_row_packs: "
             << (long_rows ? "a long row would be one thread's work" : "not asked for");
  rejected << "; warp_per_row: "
           << (variant->id == "warp_per_row" ? "chosen"
                                             : "one column at a time, where packs do not fit");
  return {variant, variant->cuts_rows ? rule.piece : 0, reason.str(), rejected.str()};
}

}  // namespace blockspan::detail
