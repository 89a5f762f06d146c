#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>

// Segments of rows, as they come, sorted by length, or of rows that have entries: their entries of
// the menu, and when a plan chooses them. Kernels: rows.hpp, sparse_rows.hpp. Figures are
// microseconds on one H200 in double.

namespace blockspan::products {

struct SegmentsChoice : LaunchedByRows, tuning::SegmentsLimits, tuning::HostSegmentsCosts {
  static bool suits(RowStatistics const& rows, std::int64_t segment) {
    return rows.longest <= segment || segment <= short_segment ||
           rows.nonzeros >= least_share * segment;
  }

  /// The sums of segments: written, counted, and those of the longest row added up by one thread.
  /// All rows are cut where they are long, few where they are not.
  static double carried(DeviceModel const& of, std::int64_t segment) {
    auto const& model = of.device().model;
    double const length = as_double(segment);
    double const segments = of.entries() / length * std::min(1.0, of.rows().mean() / length);
    double const in_turn = as_double(of.rows().longest) / length / tuning::device_depth<1>;
    return model.launch / 2 + model.wait * in_turn +
           model.carry * segments * of.bytes(1) / of.device().dram;
  }

  static double cut_at(SpmmVariant const& variant, DeviceModel const& of, std::int64_t segment) {
    auto const& model = of.device().model;
    auto const& rows = of.rows();
    bool const cuts = rows.longest > segment;
    std::int64_t const listed = rows.rows - (variant.skips_empty_rows() ? rows.empty_rows : 0);
    std::int64_t const segments = listed + (cuts ? rows.nonzeros / segment : 0);
    double time = model.launch + of.body() +
                  of.time_of(statistics_of_segments(rows, variant, segments, segment)) +
                  model.list * as_double(segments) / of.device().dram;
    if (variant.kernel != SpmmKernelId::segments_sorted)
      time += of.tail();
    else if (!cuts && rows.imbalance() <= sorted_even)
      time *= sorted_loss;
    // the others are filled before; nothing then hides that long rows start late
    if (variant.skips_empty_rows())
      time += model.launch + of.tail() + 3 * index_bytes * as_double(rows.rows) / of.device().dram;
    return cuts ? time + carried(of, segment) : time;
  }

  /// With the length of segments that suits the variant, or the one that is asked for.
  static Cost on_device(SpmmVariant const& variant, CostFacts const& A) {
    DeviceModel const model(A);
    if (A.segment > 0) return {cut_at(variant, model, A.segment), A.segment};
    Cost best{INFINITY};
    auto const consider = [&](std::int64_t segment) {
      if (double const time = cut_at(variant, model, segment); time < best.microseconds)
        best = {time, segment};
    };
    std::int64_t last = 0;
    for (std::int64_t const segment : tuning::device_segment_lengths) {
      last = segment;
      if (suits(A.rows, segment)) consider(segment);
    }
    // the segments of a row are added up by one thread: about as many segments as one has entries
    while (4 * last * last < A.rows.longest) consider(last *= 2);
    if (best.segment == 0) consider(std::max(last, A.rows.longest));
    return best;
  }

  static std::optional<Cost> cost(CostFacts const& A) {
    if (!A.device.is_host) return on_device(row, A);
    double const entries = RowsChoice::host_entry(A) * as_double(A.rows.nonzeros);
    return Cost{entries + host_listed_row * as_double(A.rows.rows),
                A.segment > 0 ? A.segment : host_segment};
  }

  static constexpr SpmmVariant row{
      .id = "segments",
      .label = "Blockspan::spmm::segments",
      .parts =
          "long rows cut into equal segments, their sums added in order by the segment that comes "
          "last; direct loads; vectors where they fit, else single columns",
      .source =
          "Blockspan; cutting as in Flegar, Quintana-Orti 2017, Euro-Par, "
          "doi:10.1007/978-3-319-64203-1_51, without its atomics",
      .needs = "",
      .loses = "for even matrices with rows too long for one thread",
      .kernel = SpmmKernelId::segments,
      .units = SpmmUnits::segments,
      .vectorized = true,
      .by_rows = true,
      .cost = cost};
};

struct SegmentsSortedChoice : LaunchedByRows {
  static std::optional<Cost> cost(CostFacts const& A) {
    if (A.device.is_host && !A.chosen) return {};
    return SegmentsChoice::on_device(row, A);
  }

  static constexpr SpmmVariant row{
      .id = "segments_sorted",
      .label = "Blockspan::spmm::segments_sorted",
      .parts = "as segments, the segments in classes of equal length, the longest first",
      .source =
          "Blockspan; classes by powers of two as in Ashari, Sedaghati, Eisenlohr, Parthasarathy, "
          "Sadayappan 2014, SC, doi:10.1109/SC.2014.69",
      .needs = "",
      .loses = "for rows of uneven length",
      .kernel = SpmmKernelId::segments_sorted,
      .units = SpmmUnits::segments,
      .vectorized = true,
      .by_rows = true,
      .cost = cost};
};

/// Compiled with the product: kernels/sparse_rows.hpp.
template <class Call>
void launch_nonempty_rows(Call const& call);

struct NonemptyRowsChoice : tuning::NonemptyRowsLimits {
  static std::optional<Cost> cost(CostFacts const& A) {
    if ((A.device.is_host || A.scalar.is_sixteen_bit()) && !A.chosen) return {};
    return SegmentsChoice::on_device(row, A);
  }

  /// Devices: whether the rows without entries are filled alongside the products of the others, by
  /// SparseRowsKernel, and not before them.
  static LaunchForm form(PatternFacts const& A, BlockFacts const&, DeviceFacts const& device,
                         bool vectorized) {
    bool const alongside = device.lanes_exchange && vectorized && !A.is_permuted && A.slots == 0 &&
                           A.rows.longest <= sparse_row;
    return alongside ? LaunchForm::all_rows : LaunchForm::usual;
  }

  template <class Call>
  static void launch(Call const& call) {
    launch_nonempty_rows(call);
  }

  static constexpr SpmmVariant row{
      .id = "nonempty_rows",
      .label = "Blockspan::spmm::nonempty_rows",
      .parts = "as segments, over the rows that have entries; one pass fills the others",
      .source =
          "Blockspan; the row list of Buluc, Gilbert 2008, IPDPS, doi:10.1109/IPDPS.2008.4536313",
      .needs = "",
      .loses = "for mostly empty rows",
      .kernel = SpmmKernelId::nonempty_rows,
      .units = SpmmUnits::segments,
      .vectorized = true,
      .by_rows = true,
      .cost = cost,
      .form = form};
};

}  // namespace blockspan::products
