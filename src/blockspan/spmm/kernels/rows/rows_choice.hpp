#pragma once

#include <optional>

#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>

// Whole rows: their entries of the menu, and when a plan chooses them. Kernels: rows.hpp,
// rows_host.hpp, columns.hpp.

namespace blockspan::products {

// Compiled with the product: kernels/rows.hpp, kernels/columns.hpp.

/// Whole rows or segments of them, by the inner of the decided lanes.
template <class Call>
void launch_by_rows(Call const& call);
/// The same, or a lane a row of column-major X.
template <class Call>
void launch_single_columns(Call const& call);

struct LaunchedByRows {
  template <class Call>
  static void launch(Call const& call) {
    launch_by_rows(call);
  }
};

struct RowsChoice : LaunchedByRows, tuning::HostRowsCosts {
  /// Hosts: us of a nonzero.
  static double host_entry(CostFacts const& A) { return 1e-3 + host_column * as_double(A.columns); }

  /// Hosts: a product is no faster than its longest row.
  static double on_host(CostFacts const& A) {
    double const entry = host_entry(A);
    bool const long_rows = A.rows.longest > (A.segment > 0 ? A.segment : host_longest_row);
    return entry * as_double(A.rows.nonzeros) + (long_rows ? entry * as_double(A.rows.longest) : 0);
  }

  static double on_device(DeviceModel const& model) {
    auto const& rows = model.rows();
    auto const segments = statistics_of_segments(rows, row, rows.rows, rows.longest);
    return model.device().model.launch + model.body() + model.tail() +
           model.time_of(segments, model.whole());
  }

  static std::optional<Cost> cost(CostFacts const& A) {
    return Cost{A.device.is_host ? on_host(A) : on_device(DeviceModel(A))};
  }

  /// Hosts: one column by rows, where a plan has groups: a group shares no more than one element of
  /// X then (elasticity 14, one core: 0.50 -> 0.21 ms).
  static bool replaces(SpmmVariant const& chosen, PatternFacts const& A, BlockFacts const& blocks,
                       DeviceFacts const& device) {
    return device.is_host && blocks.columns == 1 && chosen.lists_groups() && A.block == 1;
  }

  static constexpr SpmmVariant row{
      .id = "rows",
      .label = "Blockspan::spmm::rows",
      .parts = "whole rows; direct loads; a lane owns vectors of neighbouring columns",
      .source =
          "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48 (row split; 16-byte "
          "loads as in its successors)",
      .needs = "on devices: rows of X contiguous, 16-byte aligned and a multiple of 16 bytes wide",
      .loses = "whole rows, for rows of about equal length",
      .kernel = SpmmKernelId::rows,
      .requires_aligned_x = true,
      .vectorized = true,
      .strided_y = true,
      .by_rows = true,
      .cost = cost,
      .replaces = replaces};
};

/// What runs where rows are not whole vectors. No plan chooses it.
struct SingleColumnsChoice {
  template <class Call>
  static void launch(Call const& call) {
    launch_single_columns(call);
  }

  static constexpr SpmmVariant row{
      .id = "single_columns",
      .label = "Blockspan::spmm::single_columns",
      .parts = "whole rows; direct loads; a lane owns single columns",
      .source =
          "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR vector, lanes over columns)",
      .needs = "",
      .loses = "one column a lane, for blocks whose rows are no whole vectors",
      .kernel = SpmmKernelId::single_columns,
      .by_rows = true};
};

}  // namespace blockspan::products
