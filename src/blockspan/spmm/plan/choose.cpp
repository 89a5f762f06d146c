#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {
namespace {

// Which kernels are candidates, and which of them the model takes. Figures are microseconds on
// one H200 in double, unless they say otherwise.

/// Whole rows, the first prediction, win a tie: they need no list.
constexpr double whole_rows_margin = 0.99;

/// Row groups: entries a fetched row of X at least; rows a multiprocessor at least, which idles
/// otherwise. Without and with groups, n = 8: elasticity of 1,344 rows 5.5, 6.6;
/// 22,800 16.0, 13.7.
constexpr double group_share = 1.5;
constexpr std::int64_t group_rows_of_multiprocessor = 62;

/// Windows: columns; windows a multiprocessor (n = 8, the best of the others and windows: bcsstk29,
/// 1,749 windows, 8.7, 6.6; nasa4704, 588, 5.3, 5.3); nonzeros of the longest row, because a thread
/// merges those of a window (reasoned).
constexpr std::int64_t window_least_columns = 3, windows_of_multiprocessor = 12,
                       window_longest_row = 1024;

/// And what the model does not see of the latency of their loads: nonzeros of a mean row, and those
/// that a row of X which they fetch must serve. 9-point 500^2 (8.9; 2.2), the best of the others
/// over windows, n = 4, 5, 8, 32 0.79, 0.99, 1.20, 1.15; 5e5 rows of a band of 7 (3.5), n = 8, 64
/// 1.05, 0.96; 27-point 96^3, n = 4 0.88; elasticity 44, n = 4 1.12. Of double rows that do not
/// follow a diagonal, even and many: triangulations (7; 1.38), n = 5, 8, 24, 32 1.09, 1.08, 0.92,
/// 1.15; in space (15; 1.58) 1.42, 1.28, 0.99, 1.08; but Dubcova1, 16,129 rows, n = 8 0.88.
struct WindowNeeds {
  double row;
  double share;
};
constexpr WindowNeeds windows_of_few_columns{12, 3}, windows_of_others{8.5, 2},
    windows_of_scattered_rows{5.5, 1.3};
constexpr std::int64_t window_few_columns = 4, scattered_rows_of_multiprocessor = 248;
constexpr double scattered_diagonal = 0.25, scattered_imbalance = 1.5;

WindowNeeds window_needs(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                         DeviceFacts const& device) {
  if (columns <= window_few_columns) return windows_of_few_columns;
  bool const scattered = rows.diagonal() < scattered_diagonal &&
                         rows.imbalance() <= scattered_imbalance &&
                         rows.rows >= scattered_rows_of_multiprocessor * device.multiprocessors;
  return scattered && !scalar.is_complex ? windows_of_scattered_rows : windows_of_others;
}

bool serve(RowStatistics const& rows, WindowCount const& windows, double share) {
  auto const places = static_cast<double>(tuning::window_columns * windows.tiles);
  return windows.tiles > 0 && windows.tiles < tuning::window_most_tiles / 2 &&
         share * places <= static_cast<double>(rows.nonzeros);  // tiles are an estimate
}

/// Tiles that a team shares, by lanes: the share of all places that is full (from 16 vectors on;
/// fewer), and of what is staged of a row in a tile; the share of the lanes that is used; teams for
/// the multiprocessors. 8192 x 4096, whole rows and shared tiles: 3 % full, n = 64 43, 51; 5.3 %
/// 75, 67; 9.7 %, n = 16, 64 47, 38; 143, 102; 4096 x 4096, 5 % in a regular pattern, n = 128
/// 47, 65.
constexpr double tile_fill = 0.06, tile_fill_of_few = 0.08, tile_most_staged = 0.8, tile_used = 0.8,
                 tile_teams = 0.72;

template <int Lanes>
bool tiles_suit(RowStatistics const& rows, std::int64_t vectors, DeviceFacts const& device) {
  constexpr std::int64_t team_rows = tuning::shared_tile_warps * tuning::shared_tile_warp_rows;
  std::int64_t const panels = ceil_div(vectors, std::int64_t{Lanes});
  double const used = static_cast<double>(vectors) / static_cast<double>(panels * Lanes);
  double const fill = rows.mean() / static_cast<double>(rows.columns);
  double const most =
      tile_most_staged * tuning::shared_tile_entries<Lanes> / tuning::shared_tile_rows<Lanes>;
  return used >= tile_used && (Lanes > 8 ? tile_fill : tile_fill_of_few) <= fill && fill <= most &&
         static_cast<double>(panels * ceil_div(rows.rows, team_rows)) >=
             tile_teams * device.multiprocessors;
}
bool tiles_are_worth_it(RowStatistics const& rows, std::int64_t row_bytes,
                        DeviceFacts const& device) {
  std::int64_t const vectors = row_bytes / tuning::device_vector_bytes;
  if (vectors <= 8) return tiles_suit<8>(rows, vectors, device);
  return vectors <= 16 ? tiles_suit<16>(rows, vectors, device)
                       : tiles_suit<32>(rows, vectors, device);
}

/// Shared tiles and shared windows replace staged tiles where such a share of all places is
/// full. A row's lanes and shared tiles, 8192 x 4096, n = 64: 3 % 48, 51; 10 % 158, 105.
constexpr double shared_tile_fill = 0.02, shared_window_fill = 0.05;

double fill_of(RowStatistics const& rows) {
  return rows.mean() / static_cast<double>(std::max<std::int64_t>(1, rows.columns));
}

std::vector<SpmmPrediction> predict_device(RowStatistics const& rows, GroupCount const& groups,
                                           WindowCount const& windows, TileForms tiles,
                                           SpmmPlanOptions const& options, ScalarKind const& scalar,
                                           DeviceFacts const& device) {
  DeviceModel const model(rows, options.columns, scalar, device);
  std::vector<SpmmPrediction> all{model.whole_rows()};
  for (char const* const id : {"segments", "segments_sorted"})
    all.push_back(model.listed(id, options.segment_length));
  if (scalar.is_sixteen_bit()) return all;
  all.push_back(model.listed("nonempty_rows", options.segment_length));
  if (may_group(rows, device) && groups_are_worth_it(rows, groups))
    all.push_back(model.row_groups(groups));
  if (serve(rows, windows, window_needs(rows, options.columns, scalar, device).share))
    all.push_back(model.windows(windows));
  auto const row_bytes = options.columns * static_cast<std::int64_t>(scalar.bytes);
  tiles.lanes = tiles.lanes && tiles_are_worth_it(rows, row_bytes, device);
  if (tiles.any()) all.push_back(model.shared_tiles(tiles));
  return all;
}

// Hosts: one core, reasoned. A row of many nonzeros could hold up the others.
constexpr std::int64_t host_segment = 4096, host_longest_whole_row = 16384;

/// A product takes at least as long as its longest row; the list of the segments costs a little;
/// groups save what neighbours fetch for each other, from a few columns on. Xeon with AVX-512,
/// elasticity 20, ms without and with groups: n = 4 0.86, 0.83; 16 1.87, 1.19; 64 7.8, 4.7.
std::vector<SpmmPrediction> predict_host(RowStatistics const& rows, GroupCount const& groups,
                                         SpmmPlanOptions const& options, ScalarKind const& scalar) {
  double const of_column = 2.5e-4, entry = 1e-3 + of_column * options.columns;  // us
  std::int64_t const asked = options.segment_length;
  double const all = entry * static_cast<double>(rows.nonzeros);
  bool const long_rows = rows.longest > (asked > 0 ? asked : host_longest_whole_row);
  double const whole = all + (long_rows ? entry * static_cast<double>(rows.longest) : 0);
  std::vector<SpmmPrediction> times{
      {find_spmm_variant("rows"), whole, 0},
      {find_spmm_variant("segments"), all + 1.2e-3 * static_cast<double>(rows.rows),
       asked > 0 ? asked : host_segment}};
  if (!scalar.is_sixteen_bit() && groups_are_worth_it(rows, groups)) {
    double const saved = 0.7 * of_column * std::max(0, options.columns - 4) *
                         static_cast<double>(rows.nonzeros - groups.fetches);
    times.push_back({find_spmm_variant("groups"), whole - saved, 0});
  }
  return times;
}

/// What the rows look like, as far as the choice depends on it, in words.
std::string rows_in_words(RowStatistics const& rows, bool on_host) {
  std::ostringstream words;
  words << "the longest row has " << rows.longest << " nonzeros, the mean row " << rows.mean();
  if (on_host)
    words << ", and one thread can take " << host_longest_whole_row
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
  return host_segment;
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

bool may_group(RowStatistics const& rows, DeviceFacts const& device) {
  return device.is_host || rows.rows >= group_rows_of_multiprocessor * device.multiprocessors;
}
std::int64_t most_fetches_of_groups(RowStatistics const& rows) {
  return static_cast<std::int64_t>(static_cast<double>(rows.nonzeros) / group_share);
}
bool groups_are_worth_it(RowStatistics const& rows, GroupCount const& groups) {
  return groups.fetches > 0 && groups.fetches <= most_fetches_of_groups(rows);
}

bool may_take_windows(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                      DeviceFacts const& device) {
  return device.double_tensor_cores && scalar.is_double && columns >= window_least_columns &&
         rows.rows >= tuning::window_rows * windows_of_multiprocessor * device.multiprocessors &&
         rows.mean() >= window_needs(rows, columns, scalar, device).row &&
         rows.longest <= window_longest_row;
}
bool windows_are_worth_it(RowStatistics const& rows, WindowCount const& windows) {
  return serve(rows, windows, windows_of_others.share);
}

bool is_offered(SpmmVariant const& variant, ScalarKind const& scalar, DeviceFacts const& device) {
  return !variant.lists_windows() || (device.double_tensor_cores && scalar.is_double);
}

SpmmVariant const& fallback_of(PatternFacts const& A, SpmmChoice const& choice) {
  auto const& chosen = *choice.variant;
  if (!chosen.lists_windows() && !chosen.stages_tiles()) return chosen;
  bool const grouped = chosen.lists_windows() && A.lists_groups;
  return *find_spmm_variant(grouped ? "groups" : "rows");
}

SpmmVariant const& unvectorized(SpmmVariant const& variant) {
  return variant.requires_aligned_x ? *find_spmm_variant("single_columns") : variant;
}

bool has_vectors_for_tiles(std::int64_t bytes) {
  return bytes >= std::int64_t{tuning::shared_tile_vectors} * tuning::device_vector_bytes;
}

bool rows_share_tiles(RowStatistics const& rows, std::int64_t row_bytes, ScalarKind const& scalar,
                      DeviceFacts const& device) {
  return device.shares_tiles() && scalar.bytes <= sizeof(double) &&
         has_vectors_for_tiles(row_bytes) && fill_of(rows) >= shared_tile_fill;
}

TileForms tile_forms(RowStatistics const& rows, int columns, ScalarKind const& scalar,
                     DeviceFacts const& device) {
  std::int64_t const row_bytes = columns * static_cast<std::int64_t>(scalar.bytes);
  if (row_bytes % tuning::device_vector_bytes != 0) return {};
  return {rows_share_tiles(rows, row_bytes, scalar, device),
          device.shares_windows() && scalar.is_double && has_vectors_for_tiles(row_bytes) &&
              fill_of(rows) >= shared_window_fill};
}

SpmmChoice choose_variant(RowStatistics const& rows, GroupCount const& groups,
                          WindowCount const& windows, TileForms const& tiles,
                          SpmmPlanOptions const& options, ScalarKind const& scalar,
                          DeviceFacts const& device) {
  bool const asked = options.algorithm != "auto";
  auto predictions = device.is_host
                         ? predict_host(rows, groups, options, scalar)
                         : predict_device(rows, groups, windows, tiles, options, scalar, device);
  predictions.front().microseconds *= whole_rows_margin;
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](auto const& a, auto const& b) { return a.microseconds < b.microseconds; });
  auto const id = predictions.front().variant->id;
  auto const* const variant =
      asked ? find_spmm_variant(options.algorithm) : predictions.front().variant;
  return {variant,
          segment_of(*variant, options.segment_length, predictions),
          (asked ? "asked for; " : "") + rows_in_words(rows, device.is_host),
          rejections(*variant, id),
          predictions,
          asked};
}

}  // namespace blockspan::detail
