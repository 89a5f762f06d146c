#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

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

/// The id the model chooses, and why in words. A row is the work of one team thread, so a product
/// takes at least as long as its longest row: rows above the rule's length are cut. Devices
/// multiply neighbouring rows in step, so uneven ones are sorted into classes of equal length; and
/// they skip empty rows where most are. All this costs a list to read (a few bytes a row), so even
/// rows stay whole.
template <class Exec>
std::pair<std::string_view, std::string> model_choice(RowStatistics const& rows,
                                                      CutRule const& rule) {
  std::ostringstream reason;
  bool const long_rows = rows.longest > rule.longest_whole_row;
  bool const uneven = !runs_on_host_v<Exec> && rows.imbalance() > tuning::device_uneven;
  bool const mostly_empty =
      !runs_on_host_v<Exec> && rows.empty_rows > rows.rows * tuning::device_mostly_empty;
  reason << "the longest row has " << rows.longest << " nonzeros, the mean row " << rows.mean()
         << ", and one thread can take " << rule.longest_whole_row
         << " without holding up the others";
  if (!runs_on_host_v<Exec>)
    reason << "; groups of " << RowStatistics::group_size << " neighbouring rows walk "
           << rows.imbalance() << " times their nonzeros; " << rows.empty_rows << " rows are empty";
  if (mostly_empty) return {"nonempty_rows", reason.str()};
  if (uneven) return {"segments_sorted", reason.str()};
  return {long_rows ? "segments" : "warp_per_row_packs", reason.str()};
}

/// What speaks against the other entries of the menu.
inline std::string rejections(SpmmVariant const& chosen, std::string_view by_model) {
  std::string text;
  for (auto const& variant : spmm_variants) {
    if (variant.id == chosen.id) continue;
    text += (text.empty() ? "" : "; ") + std::string(variant.id) + ": " +
            (variant.id == by_model ? "the model's choice, another was asked for" : variant.loses);
  }
  return text;
}

template <class Exec>
SpmmChoice choose_variant(RowStatistics const& rows, SpmmPlanOptions const& options) {
  CutRule const rule = cut_rule<Exec>(rows, options);
  bool const asked = options.algorithm != "auto";
  auto const [id, reason] = model_choice<Exec>(rows, rule);
  auto const* const variant = find_spmm_variant(asked ? std::string_view(options.algorithm) : id);
  return {variant, variant->lists_pieces() ? rule.piece : 0, (asked ? "asked for; " : "") + reason,
          rejections(*variant, id)};
}

}  // namespace blockspan::detail
