#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include <blockspan/spmm/kernels/adaptive/adaptive_choice.hpp>
#include <blockspan/spmm/kernels/groups/groups_choice.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_tiles_choice.hpp>
#include <blockspan/spmm/kernels/windows/windows_choice.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>

// Plans from plain facts, on any host: what a plan of a matrix with these facts would decide.

namespace blockspan::test {

inline constexpr products::ScalarKind f32{4, false, false}, f64{8, true, false},
    c64{16, true, true};

/// Devices as CUDA tells of them; the last as HIP does.
namespace devices {
inline constexpr products::DeviceFacts host{.is_host = true};
inline constexpr products::DeviceFacts h200{
    .lanes_exchange = true, .double_tensor_cores = true, .bulk_copies = true};
inline constexpr products::DeviceFacts h100{.lanes_exchange = true,
                                            .double_tensor_cores = true,
                                            .bulk_copies = true,
                                            .dram = 3.35e6,
                                            .cache = std::int64_t{50} << 20};
inline constexpr products::DeviceFacts a100{.lanes_exchange = true,
                                            .double_tensor_cores = true,
                                            .multiprocessors = 108,
                                            .clock = 1410,
                                            .dram = 1.555e6,
                                            .cache = std::int64_t{40} << 20,
                                            .scratch = 163 << 10};
inline constexpr products::DeviceFacts b200{.lanes_exchange = true,
                                            .double_tensor_cores = true,
                                            .bulk_copies = true,
                                            .multiprocessors = 148,
                                            .clock = 1965,
                                            .dram = 7.7e6,
                                            .cache = std::int64_t{126} << 20};
/// One of its two halves.
inline constexpr products::DeviceFacts mi250x{.multiprocessors = 110,
                                              .clock = 1700,
                                              .dram = 1.638e6,
                                              .cache = std::int64_t{8} << 20,
                                              .scratch = 64 << 10};
}  // namespace devices

/// A matrix, as plans see it before they choose.
struct MatrixFacts {
  RowStatistics rows{};
  std::int64_t half_bandwidth = 0;
  products::GroupCount groups{};
  products::WindowCount windows{};
  bool near = false;  ///< columns are 16-bit distances from their row
};

struct Planned {
  products::PatternFacts A;
  products::SpmmChoice choice;
};

/// A plan for `columns` columns.
inline Planned plan(MatrixFacts const& matrix, int columns, products::ScalarKind const& scalar,
                    products::DeviceFacts const& device, std::string const& algorithm = "auto") {
  products::PatternFacts A;
  auto const& rows = A.rows = matrix.rows;
  A.half_bandwidth = matrix.half_bandwidth;
  SpmmPlanOptions const options{.columns = columns, .algorithm = algorithm};
  bool const automatic = algorithm == "auto";
  if (products::GroupsChoice::may_pay(rows, device) || !automatic) A.groups = matrix.groups;
  bool const windows = automatic && products::WindowsChoice::may_pay(rows, columns, scalar, device);
  auto const tiles = automatic ? tile_forms(rows, columns, scalar, device) : products::TileForms{};
  auto const choice =
      choose_variant(rows, A.groups, windows ? matrix.windows : products::WindowCount{}, tiles,
                     options, scalar, device);
  auto const& variant = *choice.variant;
  A.lists_groups = variant.lists_groups() ||
                   (variant.lists_windows() && products::GroupsChoice::pay(rows, A.groups));
  if (variant.lists_windows()) A.windows = matrix.windows;
  if (variant.lists_segments()) {
    A.slots = rows.longest > choice.segment ? rows.nonzeros / choice.segment : 0;
    A.segments = rows.rows - (variant.skips_empty_rows() ? rows.empty_rows : 0) + A.slots;
  }
  if (products::AdaptiveChoice::cuts_tiles(variant, !automatic, rows, scalar, device))
    A.tiles = rows.nonzeros / products::tuning::adaptive_tile_work + 1;
  A.has_distances = matrix.near && keeps_distances(rows, variant, device);
  if (variant.reads_masks != nullptr &&
      variant.reads_masks({rows, {}, {}, tiles, columns, 0, scalar, device}))
    A.window_masks = rows.rows / 64 * (rows.columns / 64) * 64;
  return {A, choice};
}

inline products::BlockFacts blocks(std::int64_t columns, products::ScalarKind const& scalar,
                                   bool column_major = false) {
  bool const vectors = columns * static_cast<std::int64_t>(scalar.bytes) % 16 == 0;
  products::BlockLayout const by_rows{true, columns == 1, vectors, vectors};
  products::BlockLayout const by_columns{columns == 1, true, false, false};
  auto const& layout = column_major ? by_columns : by_rows;
  return {.columns = columns, .scalar = scalar, .x = layout, .y = layout};
}

inline products::Decision decide(Planned const& planned, products::BlockFacts const& blocks,
                                 products::DeviceFacts const& device) {
  return products::decide(planned.A, planned.choice, blocks, device);
}

/// What a kernel is expected to take, whether it is a candidate or not.
inline double time_of(SpmmKernelId kernel, RowStatistics const& rows, std::int64_t columns,
                      products::ScalarKind const& scalar, products::DeviceFacts const& device,
                      products::GroupCount const& groups = {}) {
  return spmm_variant(kernel)
      .cost({rows, groups, {}, {}, columns, 0, scalar, device, true})
      ->microseconds;
}

inline char const* name_of(products::LaunchForm form) {
  static constexpr char const* names[] = {"",          "lane_a_row ", "staged_columns ",
                                          "all_rows ", "by_windows ", "registered "};
  return names[static_cast<int>(form)];
}

/// Columns, kernel, its form where that is not the usual one, lanes over columns x over entries x
/// vectors a lane.
inline std::string in_words(products::Launch const& launch) {
  std::ostringstream words;
  words << launch.columns << ' ' << launch.variant->id << ' ' << name_of(launch.form)
        << launch.lanes.grid.columns() << 'x' << launch.lanes.grid.entries() << 'x'
        << launch.lanes.vectors_per_lane << (launch.vectorized ? " vectors" : "")
        << (launch.narrow ? " narrow" : "") << (launch.lanes.deep ? " deep" : "")
        << (launch.lanes.spread ? " spread" : "");
  return words.str();
}

inline std::string in_words(products::Decision const& decision) {
  std::string words;
  if (decision.x != products::BlockCopy::none) words += "copy of X, ";
  if (decision.y_by_copy) words += "copy of Y, ";
  if (decision.fills_empty_rows) words += "empty rows first, ";
  for (auto const& launch : decision.launches)
    words += (&launch == &decision.first() ? "" : "; ") + in_words(launch);
  return words;
}

}  // namespace blockspan::test
