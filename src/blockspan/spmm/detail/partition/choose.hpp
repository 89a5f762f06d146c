#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include <blockspan/spmm/detail/partition/predict.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/plan_options.hpp>

namespace blockspan::detail {

template <class Exec>
CutRule cut_rule(RowStatistics const& rows, SpmmPlanOptions const& options) {
  if (options.piece_length > 0) return {options.piece_length, options.piece_length};
  return runs_on_host_v<Exec> ? host_cut_rule() : device_cut_rule(rows);
}

/// What the rows look like, as far as the choice depends on it, in words.
template <class Exec>
std::string rows_in_words(RowStatistics const& rows, CutRule const& rule) {
  std::ostringstream words;
  words << "the longest row has " << rows.longest << " nonzeros, the mean row " << rows.mean()
        << ", and one thread can take " << rule.longest_whole_row
        << " without holding up the others";
  if (!runs_on_host_v<Exec>)
    words << "; groups of " << RowStatistics::group_size << " neighbouring rows walk "
          << rows.imbalance() << " times their nonzeros; " << rows.empty_rows << " rows are empty";
  return words.str();
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
  auto predictions = runs_on_host_v<Exec> ? predict_host(rows, rule, options.columns)
                                          : predict_device(rows, rule, options.columns);
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](auto const& a, auto const& b) { return a.microseconds < b.microseconds; });
  auto const id = predictions.front().variant->id;
  auto const* const variant =
      asked ? find_spmm_variant(options.algorithm) : predictions.front().variant;
  return {variant, variant->lists_pieces() ? rule.piece : 0,
          (asked ? "asked for; " : "") + rows_in_words<Exec>(rows, rule), rejections(*variant, id),
          predictions};
}

}  // namespace blockspan::detail
