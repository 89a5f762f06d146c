#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/explain.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

// Windows of rows on tensor cores: their entry of the menu, and when a plan chooses them. Kernels:
// windows.hpp. Figures are microseconds on one H200 in double, unless they say otherwise.

namespace blockspan::products {

/// Defined in windows.hpp, compiled on its own.
template <class Call>
void launch_windows(Call const& call);

struct WindowsChoice : tuning::WindowsLimits {
  static bool needs(ScalarKind const& scalar, DeviceFacts const& device) {
    return device.double_tensor_cores && scalar.is_double;
  }

  static Least least(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                     DeviceFacts const& device) {
    if (columns <= few_columns) return of_few_columns;
    bool const scattered = rows.diagonal() < scattered_diagonal &&
                           rows.imbalance() <= scattered_imbalance &&
                           rows.rows >= scattered_rows_of_multiprocessor * device.multiprocessors;
    return scattered && !scalar.is_complex ? of_scattered_rows : of_others;
  }

  /// Whether they are candidates before anything is known of their columns.
  static bool may_pay(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                      DeviceFacts const& device) {
    return needs(scalar, device) && columns >= least_columns &&
           rows.rows >= tuning::window_rows * of_multiprocessor * device.multiprocessors &&
           rows.mean() >= least(rows, columns, scalar, device).row && rows.longest <= longest_row;
  }

  static bool tiles_are_full_enough(RowStatistics const& rows, WindowCount const& windows,
                                    double share) {
    auto const places = static_cast<double>(tuning::window_columns * windows.tiles);
    return windows.tiles > 0 && windows.tiles < tuning::window_most_tiles / 2 &&
           share * places <= as_double(rows.nonzeros);  // tiles are an estimate
  }
  /// Whether they gain more than a separate pass for the sums costs.
  static bool gain_a_pass(RowStatistics const& rows, WindowCount const& windows) {
    return tiles_are_full_enough(rows, windows, of_others.share);
  }

  /// Values are streamed, and so are the tiles; of X, each tile fetches its rows, four vectors at
  /// least, and then eight at a time. A pass has 32 vectors, or 16 single columns. A
  /// window's tiles follow each other; nothing where a few windows would end long after the others.
  static std::optional<Cost> on_device(CostFacts const& A) {
    DeviceModel const of(A);
    auto const& device = A.device;
    auto const& model = device.model;
    auto const& count = A.windows;
    std::int64_t const fetched =
        of.vectors() <= 4 ? 4 : ceil_div(of.vectors(), std::int64_t{8}) * 8;
    double const passes = std::ceil(as_double(of.vectors()) / (of.whole() ? 32 : 16));
    double const values = of.entries() * as_double(std::int64_t(A.scalar.bytes));
    double const streamed =
        passes * values + of.bytes(A.rows.rows + std::min(A.rows.columns, A.rows.nonzeros)) +
        as_double(count.tiles) * (2 * tuning::window_rows + index_bytes * tuning::window_columns);
    double const tiles =
        as_double(count.tiles * tuning::window_columns * fetched) * tuning::device_vector_bytes;
    double const all =
        streamed / (model.stream * device.dram) + tiles / (model.tile * device.cycles());
    double const mean =
        as_double(count.tiles) / as_double(std::max<std::int64_t>(1, count.windows));
    double const more = tile_waits_of_vector * as_double(fetched - 4);
    double const one =
        model.wait * std::max(tile_waits * mean, (tile_waits + more) * as_double(count.most));
    bool const alone = as_double(count.most) > uneven_windows * mean && one > all;
    if (alone && !A.chosen) return {};
    return Cost{model.launch + std::max(all, one)};
  }

  static std::optional<Cost> cost(CostFacts const& A) {
    bool const pays = !A.device.is_host && !A.scalar.is_sixteen_bit() &&
                      tiles_are_full_enough(A.rows, A.windows,
                                            least(A.rows, A.columns, A.scalar, A.device).share);
    if (!pays && !A.chosen) return {};
    return on_device(A);
  }

  static std::int64_t bytes_of_indices(PatternFacts const& A, Launch const&) {
    return A.windows.tiles *
           std::int64_t{tuning::window_columns * sizeof(std::uint16_t) + sizeof(int) +
                        tuning::window_rows * sizeof(std::uint16_t)};
  }

  static std::string explain(ExplainedPattern const& A) {
    auto const& rows = A.facts.rows;
    auto const& windows = A.facts.windows;
    double const places =
        static_cast<double>(windows.tiles) * tuning::window_rows * tuning::window_columns;
    std::ostringstream out;
    out << "  " << windows.windows << " windows of " << tuning::window_rows << " rows have "
        << windows.tiles << " tiles of " << tuning::window_columns << " columns, "
        << 100 * static_cast<double>(rows.nonzeros) / std::max(1.0, places)
        << " % full\n  scalars in single precision run as " << fallback_of(A.facts, A.choice).label
        << (gain_a_pass(rows, windows) ? "; sums of products are a pass of their own\n"
                                       : ", and so do sums of products\n");
    return out.str();
  }

  template <class Call>
  static void launch(Call const& call) {
    if constexpr (tensor::available<typename Call::Exec, real_t<typename Call::Scalar>>)
      launch_windows(call);
  }

  static constexpr SpmmVariant row{
      .id = "windows",
      .label = "Blockspan::spmm::windows",
      .parts =
          "windows of eight neighbouring rows; the columns that any of them has, in tiles with a "
          "bit for each entry, on tensor cores in full double precision; values as stored in the "
          "matrix",
      .source =
          "Blockspan; condensed windows of rows as in Fan, Wang, Chu 2024, ASPLOS (DTC-SpMM), "
          "doi:10.1145/3620666.3651378, FP64 tensor cores as in Lu, Liu 2023, SC (DASP), "
          "doi:10.1145/3581784.3607051",
      .needs =
          "FP64 tensor cores (CUDA, from Ampere on); double or complex double; rows of X "
          "contiguous",
      .loses =
          "for sorted rows whose neighbours have many columns in common, and more than a few "
          "columns",
      .kernel = SpmmKernelId::windows,
      .units = SpmmUnits::windows,
      .vectorized = true,
      .strided_y = true,
      .sorted_rows = true,
      .is_offered = needs,
      .cost = cost,
      .falls_back = true,
      .bytes_of_indices = bytes_of_indices,
      .explain = explain};
};

}  // namespace blockspan::products
