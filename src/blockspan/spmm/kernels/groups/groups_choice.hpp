#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

// Groups of rows with the same columns: their entry of the menu, and when a plan chooses them.
// Kernels: groups.hpp. Figures are microseconds on one H200 in double.

namespace blockspan::products {

/// Defined in groups.hpp, compiled on its own.
template <class Call>
void launch_groups(Call const& call);

struct GroupsChoice : tuning::GroupsLimits {
  /// Whether they are candidates before they are counted. On devices one thread has all entries of
  /// a group.
  static bool may_pay(RowStatistics const& rows, DeviceFacts const& device) {
    return device.is_host ||
           (rows.rows >= rows_of_multiprocessor * device.multiprocessors && !has_long_rows(rows));
  }
  /// Rows of X that they may fetch.
  static std::int64_t most_fetches(RowStatistics const& rows) {
    return static_cast<std::int64_t>(as_double(rows.nonzeros) / share);
  }
  static bool pay(RowStatistics const& rows, GroupCount const& groups) {
    return groups.fetches > 0 && groups.fetches <= most_fetches(rows);
  }

  /// Hosts: groups save repeated loads of X by neighbouring rows, from a few columns on. Xeon with
  /// AVX-512, elasticity 20, ms without and with: n = 4 0.86, 0.83; 16 1.87, 1.19; 64 7.8, 4.7.
  static double on_host(CostFacts const& A) {
    double const saved = 0.7 * RowsChoice::host_column *
                         as_double(std::max<std::int64_t>(0, A.columns - 4)) *
                         as_double(A.rows.nonzeros - A.groups.fetches);
    return RowsChoice::on_host(A) - saved;
  }

  /// Indices and rows of X are read once a group; the rest is as in whole rows.
  static double on_device(CostFacts const& A) {
    DeviceModel const model(A);
    auto const& device = A.device;
    double const fetched = as_double(A.groups.fetches) / std::max(1.0, model.entries());
    double const saved =
        index_bytes * ((1 - fetched) * model.entries() - as_double(A.groups.groups));
    std::int64_t const lanes = model.whole() ? model.vectors() : model.columns();
    double const idle = as_double(std::int64_t{1} << bits_to_hold(lanes, 30)) / as_double(lanes);
    double const body = model.stream() - saved / device.dram + idle * fetched * model.gather();
    return device.model.launch + body * (1 + model.tail() / model.body()) +
           model.time_of(statistics_of_groups(A.rows, A.groups));
  }

  static std::optional<Cost> cost(CostFacts const& A) {
    bool const pays =
        !A.scalar.is_sixteen_bit() && may_pay(A.rows, A.device) && pay(A.rows, A.groups);
    if (!pays && !A.chosen) return {};
    return Cost{A.device.is_host ? on_host(A) : on_device(A)};
  }

  static std::int64_t bytes_of_indices(PatternFacts const& A, Launch const&) {
    return A.groups.fetches / A.block * std::int64_t{sizeof(int)};
  }

  template <class Call>
  static void launch(Call const& call) {
    launch_groups(call);
  }

  static constexpr SpmmVariant row{
      .id = "groups",
      .label = "Blockspan::spmm::groups",
      .parts =
          "neighbouring rows with the same columns, up to four together: each row of X is fetched "
          "once for all of them; direct loads; vectors where they fit, else single columns",
      .source =
          "Blockspan; register blocking of sparse rows as in Im, Yelick, Vuduc 2004, IJHPCA, "
          "doi:10.1177/1094342004041296, without its explicit zeros",
      .needs = "",
      .loses = "for rows that share their columns, as unknowns of one node do",
      .kernel = SpmmKernelId::groups,
      .units = SpmmUnits::groups,
      .vectorized = true,
      .strided_y = true,
      .cost = cost,
      .bytes_of_indices = bytes_of_indices};
};

}  // namespace blockspan::products
