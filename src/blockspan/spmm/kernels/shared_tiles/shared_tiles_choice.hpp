#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/parts/mbarrier.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/explain.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

// Tiles of X that a team shares: their entry of the menu, and when a plan chooses them. Kernels:
// shared_tiles.hpp, shared_windows.hpp. Figures are microseconds on one H200 in double.

namespace blockspan::products {

// Defined in shared_tiles.hpp and shared_windows.hpp, compiled on their own.
template <class Call>
void launch_shared_tiles(Call const& call);
template <class Call>
void launch_shared_windows(Call const& call);

/// Groups of eight vectors side by side in a panel of SharedWindows, one to four, for `vectors`
/// vectors.
inline int shared_window_groups(std::int64_t vectors) {
  std::int64_t const groups = std::max<std::int64_t>(1, ceil_div(vectors, std::int64_t{8}));
  return static_cast<int>(ceil_div(groups, ceil_div(groups, std::int64_t{4})));
}

struct SharedTilesChoice : tuning::SharedTilesLimits {
  /// Teams may share tiles of X, and windows of rows among them.
  static bool teams_share(DeviceFacts const& device) {
    return device.bulk_copies &&
           device.scratch >= static_cast<std::int64_t>(tuning::shared_tile_scratch);
  }
  static bool windows_share(DeviceFacts const& device) {
    return device.double_tensor_cores && teams_share(device);
  }

  static double fill_of(RowStatistics const& rows) {
    return rows.mean() / as_double(std::max<std::int64_t>(1, rows.columns));
  }

  /// Whether rows of X of `bytes` are wide enough.
  static bool has_vectors(std::int64_t bytes) {
    return bytes >= std::int64_t{tuning::shared_tile_vectors} * tuning::device_vector_bytes;
  }
  /// Whether a tile of X, staged for all rows of a team at once, is used by nearly every row, and
  /// the entries can be copied as they are. `row_bytes`: of X.
  static bool rows_share(RowStatistics const& rows, std::int64_t row_bytes,
                         ScalarKind const& scalar, DeviceFacts const& device) {
    return teams_share(device) && scalar.bytes <= sizeof(double) && has_vectors(row_bytes) &&
           fill_of(rows) >= tile_fill;
  }
  /// How tiles may be staged with sorted rows.
  static TileForms forms(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                         DeviceFacts const& device) {
    std::int64_t const row_bytes = columns * static_cast<std::int64_t>(scalar.bytes);
    if (row_bytes % tuning::device_vector_bytes != 0) return {};
    return {rows_share(rows, row_bytes, scalar, device),
            windows_share(device) && scalar.is_double && has_vectors(row_bytes) &&
                fill_of(rows) >= window_fill};
  }

  /// Whole-row time if every gather of X hits the second-level cache (underestimates).
  static double full_rows(DeviceModel const& of) {
    auto const& device = of.device();
    return device.model.launch + of.stream() +
           of.bytes(of.rows().nonzeros) * of.single() * of.far_cycles() / device.cycles();
  }
  static double by_lanes(DeviceModel const& of) {
    auto const& device = of.device();
    std::int64_t const lanes = of.vectors() <= 8 ? 8 : of.vectors() <= 16 ? 16 : 32;
    double const read = as_double(of.rows().nonzeros * ceil_div(of.vectors(), lanes) * lanes) *
                        tuning::device_vector_bytes;
    return device.model.launch + of.stream() + read / (device.model.tile * device.cycles());
  }
  /// The multiprocessor with the most teams determines the time; that of a tile does not depend on
  /// how full it is.
  static double by_windows(DeviceModel const& of) {
    auto const& device = of.device();
    std::int64_t const groups = shared_window_groups(of.vectors());
    std::int64_t const teams = ceil_div(of.vectors(), 8 * groups) *
                               ceil_div(of.rows().rows, std::int64_t{tuning::shared_window_rows});
    std::int64_t const tiles =
        ceil_div(teams, std::int64_t{device.multiprocessors}) *
        ceil_div(of.rows().columns, std::int64_t{tuning::shared_window_columns});
    std::int64_t const products = std::int64_t{16} * tuning::shared_window_rows *
                                  tuning::shared_window_columns * (of.scalar().is_complex ? 2 : 1);
    double const cycles =
        as_double(products * groups) / device.model.tensor + device.model.tile_start;
    return device.model.launch + as_double(tiles) * cycles / device.clock;
  }
  /// Whether windows of rows are faster with shared tiles than lanes.
  static bool windows_take(DeviceModel const& of, TileForms const& forms) {
    return forms.windows && (!forms.lanes || by_windows(of) <= by_lanes(of));
  }

  static bool reads_masks(CostFacts const& A) { return windows_take(DeviceModel(A), A.tiles); }

  /// Whether a product runs by windows, for which the plan has masks.
  static bool by_windows(PatternFacts const& A, BlockFacts const& blocks) {
    return blocks.scalar.is_double && A.window_masks > 0 && has_vectors(row_bytes(blocks));
  }
  static bool suits(PatternFacts const& A, BlockFacts const& blocks, DeviceFacts const& device) {
    if (A.is_permuted || (blocks.scalar.is_complex && blocks.conjugates)) return false;
    return by_windows(A, blocks) || rows_share(A.rows, row_bytes(blocks), blocks.scalar, device);
  }
  static bool takes(PatternFacts const& A, BlockFacts const& blocks, DeviceFacts const& device) {
    return (device.is_host || (blocks.x.vectors && blocks.y.vectors)) && suits(A, blocks, device);
  }
  static LaunchForm form(PatternFacts const& A, BlockFacts const& blocks, DeviceFacts const& device,
                         bool vectorized) {
    if (!vectorized || !teams_share(device) || !suits(A, blocks, device))
      return LaunchForm::registered;
    return by_windows(A, blocks) ? LaunchForm::by_windows : LaunchForm::usual;
  }
  static std::int64_t bytes_of_indices(PatternFacts const& A, Launch const& launch) {
    return launch.form == LaunchForm::by_windows
               ? A.window_masks * std::int64_t{sizeof(std::uint64_t)}
               : A.rows.nonzeros * std::int64_t{sizeof(int)};
  }

  static std::string explain(ExplainedPattern const& A) {
    std::ostringstream out;
    if (A.facts.window_masks > 0)
      out << "  windows of 8 rows, " << tuning::shared_window_rows / 8
          << " of them a team, share tiles of X on tensor cores; bits say which places are full\n";
    if (!A.choice.asked)
      out << "  rows of X shorter than "
          << tuning::shared_tile_vectors * tuning::device_vector_bytes << " bytes run as "
          << fallback_of(A.facts, A.choice).label << "; sums of products are a pass of their own\n";
    return out.str();
  }

  template <class Call>
  static void launch(Call const& call) {
    if constexpr (bulk::available<typename Call::Exec>)
      call.launch.form == LaunchForm::by_windows ? launch_shared_windows(call)
                                                 : launch_shared_tiles(call);
  }

  static std::optional<Cost> cost(CostFacts const& A) {
    DeviceModel const model(A);
    TileForms forms = A.tiles;
    if (A.chosen) {
      forms = {true};
    } else {
      if (A.device.is_host || A.scalar.is_sixteen_bit()) return {};
      forms.lanes = forms.lanes && lanes_pay(A);
      if (!forms.any()) return {};
    }
    double const lanes = forms.lanes ? by_lanes(model) : INFINITY;
    double const windows = forms.windows ? by_windows(model) : INFINITY;
    return Cost{RowsChoice::on_device(model) * std::min(lanes, windows) / full_rows(model)};
  }

  static constexpr SpmmVariant row{
      .id = "shared_tiles",
      .label = "Blockspan::spmm::shared_tiles",
      .parts =
          "blocks of rows; the team stages tiles of X in scratch and every row takes what it "
          "needs; on Hopper, where rows are full enough, with all the scratch of a multiprocessor, "
          "fetched ahead; where they are fuller, windows of eight rows share the tiles on tensor "
          "cores (double)",
      .source =
          "Hong, Sukumaran-Rajam, Nisa, Singh, Sadayappan 2019, PPoPP, doi:10.1145/3293883.3295712 "
          "(tiles of X), without its reordering; bits for the places of a tile as in Fan, Wang, "
          "Chu 2024, ASPLOS (DTC-SpMM), doi:10.1145/3620666.3651378",
      .needs = "Blockspan::published, but where tiles are fetched ahead",
      .loses =
          "pays only where a tile serves many rows: sorted rows with some 5 % of the places full",
      .kernel = SpmmKernelId::shared_tiles,
      .vectorized = true,
      .sorted_rows = true,
      .cost = cost,
      .falls_back = true,
      .takes = takes,
      .form = form,
      .tile_forms = forms,
      .reads_masks = reads_masks,
      .bytes_of_indices = bytes_of_indices,
      .explain = explain};

 private:
  static std::int64_t row_bytes(BlockFacts const& blocks) {
    return blocks.columns * static_cast<std::int64_t>(blocks.scalar.bytes);
  }
  template <int Lanes>
  static bool suit(RowStatistics const& rows, std::int64_t vectors, DeviceFacts const& device) {
    constexpr std::int64_t team_rows = tuning::shared_tile_warps * tuning::shared_tile_warp_rows;
    std::int64_t const panels = ceil_div(vectors, std::int64_t{Lanes});
    double const used = as_double(vectors) / as_double(panels * Lanes);
    double const fill = rows.mean() / as_double(rows.columns);
    double const most =
        most_staged * tuning::shared_tile_entries<Lanes> / tuning::shared_tile_rows<Lanes>;
    return used >= least_used && (Lanes > 8 ? least_fill : least_fill_of_few) <= fill &&
           fill <= most &&
           as_double(panels * ceil_div(rows.rows, team_rows)) >=
               least_teams * device.multiprocessors;
  }
  static bool lanes_pay(CostFacts const& A) {
    std::int64_t const vectors =
        A.columns * static_cast<std::int64_t>(A.scalar.bytes) / tuning::device_vector_bytes;
    if (vectors <= 8) return suit<8>(A.rows, vectors, A.device);
    return vectors <= 16 ? suit<16>(A.rows, vectors, A.device)
                         : suit<32>(A.rows, vectors, A.device);
  }
};

}  // namespace blockspan::products
