#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/predict.hpp>
#include <blockspan/spmm/plan_options.hpp>

namespace blockspan::detail {
namespace {

/// What the rows look like, as far as the choice depends on it, in words.
std::string rows_in_words(RowStatistics const& rows, bool on_host) {
  std::ostringstream words;
  words << "the longest row has " << rows.longest << " nonzeros, the mean row " << rows.mean();
  if (on_host)
    words << ", and one thread can take " << tuning::host_longest_whole_row
          << " without holding up the others";
  else
    words << "; groups of " << RowStatistics::group_size << " neighbouring rows walk "
          << rows.imbalance() << " times their nonzeros; " << rows.empty_rows << " rows are empty";
  return words.str();
}

/// The length of the pieces that a variant gets: asked for, the model's, or the backend's usual
/// one.
std::int64_t piece_of(SpmmVariant const& variant, std::int64_t asked,
                      std::vector<SpmmPrediction> const& predictions) {
  if (!variant.lists_pieces()) return 0;
  if (asked > 0) return asked;
  for (auto const& prediction : predictions)
    if (prediction.variant == &variant) return prediction.piece;
  return tuning::host_piece;
}

/// What speaks against the other entries of the menu.
std::string rejections(SpmmVariant const& chosen, std::string_view by_model) {
  std::string text;
  for (auto const& variant : spmm_variants) {
    if (variant.id == chosen.id) continue;
    text += (text.empty() ? "" : "; ") + std::string(variant.id) + ": " +
            (variant.id == by_model ? "the model's choice, another was asked for" : variant.loses);
  }
  return text;
}

}  // namespace

SpmmChoice choose_variant(RowStatistics const& rows, GroupCount const& groups,
                          WindowCount const& windows, TileForms const& tiles,
                          SpmmPlanOptions const& options, ScalarKind const& scalar,
                          DeviceFacts const& device) {
  bool const asked = options.algorithm != "auto";
  std::int64_t const piece = options.piece_length;
  auto predictions =
      device.is_host
          ? predict_host(rows, piece, options.columns, groups)
          : predict_device(rows, piece, columns_of_doubles(options.columns, scalar.bytes), groups,
                           windows, tiles);
  // the first are whole rows
  predictions.front().microseconds *= tuning::model_whole_rows;
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](auto const& a, auto const& b) { return a.microseconds < b.microseconds; });
  auto const id = predictions.front().variant->id;
  auto const* const variant =
      asked ? find_spmm_variant(options.algorithm) : predictions.front().variant;
  return {variant,
          piece_of(*variant, piece, predictions),
          (asked ? "asked for; " : "") + rows_in_words(rows, device.is_host),
          rejections(*variant, id),
          predictions,
          asked};
}

}  // namespace blockspan::detail
