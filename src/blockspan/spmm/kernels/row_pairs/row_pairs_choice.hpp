#pragma once

#include <algorithm>
#include <cmath>

#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/scalar.hpp>

// Pairs of whole rows: their entry of the menu, and when they replace single rows. Kernel:
// row_pairs.hpp.

namespace blockspan::products {

/// Defined in row_pairs.hpp, compiled on its own.
template <class Call>
void launch_row_pairs(Call const& call);

struct RowPairsChoice : tuning::RowPairsLimits {
  static bool needs(ScalarKind const& scalar, DeviceFacts const& device) {
    return device.lanes_exchange && !scalar.is_sixteen_bit();
  }

  /// One column of whole rows, or of groups of them, which share no more than an element of X then;
  /// where there are enough rows for a thread to have two.
  static bool replaces(SpmmVariant const& chosen, PatternFacts const& A, BlockFacts const& blocks,
                       DeviceFacts const& device) {
    bool const whole_rows =
        chosen.kernel == SpmmKernelId::rows || chosen.kernel == SpmmKernelId::single_columns ||
        chosen.lists_groups() ||
        (chosen.skips_empty_rows() && A.rows.longest <= tuning::NonemptyRowsLimits::sparse_row) ||
        (chosen.clusters_rows && A.rows.mean() < tuning::ClustersLimits::long_row);
    return whole_rows && A.block == 1 && blocks.columns == 1 && !blocks.steps &&
           needs(blocks.scalar, device) &&
           A.rows.rows >= rows_of_multiprocessor * device.multiprocessors;
  }

  static Lanes lanes(SegmentStatistics const& of, std::int64_t) {
    double const each = of.near ? entries_of_lane : entries_of_scattered_lane;
    double const wanted = std::log2(std::max(1.0, of.mean / each));
    return {{0, std::min(static_cast<int>(std::lround(wanted)), most_lane_bits)}};
  }

  template <class Call>
  static void launch(Call const& call) {
    launch_row_pairs(call);
  }

  static constexpr SpmmVariant row{
      .id = "row_pairs",
      .label = "Blockspan::spmm::row_pairs",
      .parts =
          "two whole rows a thread, their loads in flight together; lanes over the nonzeros, a "
          "launch for each column",
      .source =
          "Blockspan; lanes over the nonzeros as in Bell, Garland 2009, SC, "
          "doi:10.1145/1654059.1654078 (CSR vector)",
      .needs = "a device whose lanes exchange values",
      .loses = "for one column of matrices with many rows",
      .kernel = SpmmKernelId::row_pairs,
      .by_rows = true,
      .reads_slices = true,
      .most_columns = 1,
      .is_offered = needs,
      .replaces = replaces,
      .lanes = lanes};
};

}  // namespace blockspan::products
