#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/kernels/rows/segments_choice.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>

// Whole rows in an order in which neighbours share rows of X: their entry of the menu, and when a
// plan chooses them. Kernel: rows.hpp; the order: layouts/row_clusters.hpp.

namespace blockspan::products {

struct ClustersChoice : LaunchedByRows, tuning::ClustersLimits {
  /// Whether sampling rows and their neighbours pays.
  static bool may_pay(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                      DeviceFacts const& device) {
    auto const row_bytes = columns * static_cast<std::int64_t>(scalar.bytes);
    return !device.is_host && !scalar.is_sixteen_bit() && rows.rows == rows.columns &&
           (row_bytes >= least_bytes || rows.mean() >= long_row) &&
           rows.rows * row_bytes >= device.cache / least_cache_share &&
           rows.longest <= longest_row && rows.imbalance() <= most_imbalance &&
           rows.diagonal() < tuning::near_diagonal;
  }

  /// Rows of X that clusters fetch from memory, relative to those that their entries reference.
  static double far_share(ClusterSample const& sample) {
    return sample.of_clusters.entries == 0 ? 1
                                           : std::min(1.0, of_ideal * sample.of_clusters.share());
  }

  static std::optional<Cost> cost(CostFacts const& A) {
    if (A.device.is_host && !A.chosen) return {};
    double const far = far_share(A.clusters);
    bool const pays =
        A.clusters.of_neighbours.share() >= tuning::least_scattered && far <= most_far;
    if (!pays && !A.chosen) return {};
    DeviceModel const of(A);
    auto const segment = std::max<std::int64_t>(1, A.rows.longest);
    double const saved = of.gather() - of.gather(far * (1 - A.rows.diagonal()));
    return Cost{SegmentsChoice::cut_at(row, of, segment) - saved, segment};
  }

  static constexpr SpmmVariant row{
      .id = "clusters",
      .label = "Blockspan::spmm::clusters",
      .parts =
          "whole rows, in clusters that share rows of X, whatever their order in the matrix; "
          "direct loads; X and Y where they are",
      .source =
          "Blockspan; rows that share columns next to each other as in Jiang, Hong, Agrawal 2020, "
          "PPoPP, doi:10.1145/3332466.3374546, by clusters grown from seeds",
      .needs = "",
      .loses = "for meshes and graphs whose neighbours are far apart in the order of the matrix",
      .kernel = SpmmKernelId::clusters,
      .units = SpmmUnits::segments,
      .vectorized = true,
      .by_rows = true,
      .clusters_rows = true,
      .cost = cost};
};

}  // namespace blockspan::products
