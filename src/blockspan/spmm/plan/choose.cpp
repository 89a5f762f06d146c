#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/kernels/rows/segments_choice.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan::products {
namespace {

/// Whole rows, the first entry of the menu, win a tie: they need no list.
constexpr double whole_rows_margin = 0.99;

/// The properties of the rows that the choice depends on, in words.
std::string rows_in_words(RowStatistics const& rows, bool on_host) {
  std::ostringstream words;
  words << "the longest row has " << rows.longest << " nonzeros, the mean row " << rows.mean();
  if (on_host)
    words << ", and one thread can take " << RowsChoice::host_longest_row
          << " without holding up the others";
  else
    words << "; groups of " << RowStatistics::group_size << " neighbouring rows walk "
          << rows.imbalance() << " times their nonzeros; " << rows.empty_rows << " rows are empty";
  return words.str();
}

/// The length of the segments that a variant gets: asked for, the model's, or the backend's usual
/// one.
std::int64_t segment_of(SpmmVariant const& variant, std::int64_t asked,
                        std::vector<SpmmPrediction> const& predictions) {
  if (!variant.lists_segments()) return 0;
  if (asked > 0) return asked;
  for (auto const& prediction : predictions)
    if (prediction.variant == &variant) return prediction.segment;
  return SegmentsChoice::host_segment;
}

/// Why the other entries of the menu were not chosen.
std::string rejections(SpmmVariant const& chosen, SpmmVariant const& by_model) {
  std::string text;
  for (auto const* const variant : spmm_variants()) {
    if (variant == &chosen) continue;
    text += (text.empty() ? "" : "; ") + std::string(variant->id) + ": " +
            (variant == &by_model ? "the model's choice, another was asked for" : variant->loses);
  }
  return text;
}

/// Every entry of the menu that is a candidate, the fastest first.
std::vector<SpmmPrediction> predict(CostFacts const& A) {
  std::vector<SpmmPrediction> all;
  for (auto const* const variant : spmm_variants()) {
    if (variant->cost == nullptr) continue;
    if (auto const cost = variant->cost(A))
      all.push_back({variant, cost->microseconds, cost->segment});
  }
  all.front().microseconds *= whole_rows_margin;
  std::stable_sort(all.begin(), all.end(),
                   [](auto const& a, auto const& b) { return a.microseconds < b.microseconds; });
  return all;
}

}  // namespace

bool is_offered(SpmmVariant const& variant, ScalarKind const& scalar, DeviceFacts const& device) {
  return variant.is_offered == nullptr || variant.is_offered(scalar, device);
}

TileForms tile_forms(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                     DeviceFacts const& device) {
  TileForms all;
  for (auto const* const variant : spmm_variants()) {
    if (variant->tile_forms == nullptr) continue;
    auto const forms = variant->tile_forms(rows, columns, scalar, device);
    all = {all.lanes || forms.lanes, all.windows || forms.windows};
  }
  return all;
}

SpmmVariant const& fallback_of(PatternFacts const& A, SpmmChoice const& choice) {
  auto const& chosen = *choice.variant;
  if (!chosen.falls_back) return chosen;
  bool const grouped = chosen.lists_windows() && A.lists_groups;
  return spmm_variant(grouped ? SpmmKernelId::groups : SpmmKernelId::rows);
}

SpmmVariant const& unvectorized(SpmmVariant const& variant) {
  return variant.requires_aligned_x ? spmm_variant(SpmmKernelId::single_columns) : variant;
}

SpmmChoice choose_variant(RowStatistics const& rows, GroupCount const& groups,
                          WindowCount const& windows, TileForms const& tiles,
                          SpmmPlanOptions const& options, ScalarKind const& scalar,
                          DeviceFacts const& device, ClusterSample const& clusters) {
  bool const asked = options.algorithm != "auto";
  auto const predictions = predict({rows, groups, windows, tiles, options.columns,
                                    options.segment_length, scalar, device, false, clusters});
  auto const& best = *predictions.front().variant;
  auto const& variant = asked ? *find_spmm_variant(options.algorithm) : best;
  return {&variant,
          segment_of(variant, options.segment_length, predictions),
          (asked ? "asked for; " : "") + rows_in_words(rows, device.is_host),
          rejections(variant, best),
          predictions,
          asked};
}

}  // namespace blockspan::products
