#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/multivector/fill_random.hpp>

#include "blockspan-spmm/ranks_result.hpp"
#include "blockspan-spmm/reference.hpp"
#include "blockspan-spmm/sample.hpp"
#include "blockspan-spmm/timing.hpp"
#include "common/machine/dispatch.hpp"
#include "common/problem/problem.hpp"
#include "common/ranks/row_orders.hpp"
#include "common/ranks/spread.hpp"
#include "common/run/interrupt.hpp"
#include "common/run/progress.hpp"

// The distributed product, checked and timed. All ranks call these together.

namespace blockspan::apps {

namespace rank_runs {

/// Rows of the random X, local or not: a value depends on its global index only.
template <class Scalar, class Exec>
HostRows<Scalar> random_rows(Exec const& exec, std::vector<std::int64_t> const& rows,
                             std::size_t columns, std::uint64_t seed) {
  auto const X = allocate<BlockOf<Scalar, Kokkos::LayoutRight, Exec>>(exec, "Blockspan::X_rows",
                                                                      rows.size(), columns);
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    fill_random(exec, Kokkos::subview(X, std::pair(i, end), Kokkos::ALL), seed, 0, rows[i]);
    i = end;
  }
  HostRows<Scalar> const host("Blockspan::X_rows", rows.size(), columns);
  Kokkos::deep_copy(exec, host, X);
  exec.fence("Blockspan::random_rows");
  return host;
}

/// Some of the local rows, with global columns.
template <class Scalar>
RowSample<Scalar> take_local_rows(LocalRows<Scalar> const& A, std::int64_t limit) {
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i + 1 < A.offsets.size(); ++i)
    lengths.push_back(A.offsets[i + 1] - A.offsets[i]);
  RowSample<Scalar> sample{choose_rows(lengths, limit), {0}, {}, {}};
  for (auto const row : sample.rows) {
    auto const i = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(A.offsets[i]);
         k < static_cast<std::size_t>(A.offsets[i + 1]); ++k) {
      sample.columns.push_back(A.columns[k]);
      sample.values.push_back(A.values[k]);
    }
    sample.begin.push_back(sample.columns.size());
  }
  return sample;
}

/// Checks and times the products of one width.
template <class Scalar, class Layout, class Exec>
class WidthOnRanks {
 public:
  using Block = BlockOf<Scalar, Layout, Exec>;
  using Operator = DistributedOperator<Scalar, Exec>;

  WidthOnRanks(Exec const& exec, Operator const& A, int columns, SpmmCommand const& command)
      : exec_(exec),
        A_(A),
        ranks_(A.row_space().communicator()),
        command_(command),
        X_(block("Blockspan::X", columns)),
        Y_(block("Blockspan::Y", columns)) {
    fill_random(exec, X_, command.seed, 0, A.row_space().first_row());
  }

  RanksRun run() {
    RanksRun result;
    result.columns = static_cast<int>(X_.extent(1));
    result.interior =
        A_.parts().plan(Operator::Matrix::interior).explain(X_.extent(1), sizeof(Scalar));
    check(result);
    BatchTimer product = timer([this] { spmm(exec_, Op::none, Scalar(1), A_, X_, Scalar(0), Y_); });
    // with the halo rows that the product above has received
    BatchTimer local = timer([this] { A_.parts().multiply_local(exec_, X_, Y_); });
    BatchTimer exchange = timer([this] { A_.parts().exchange(exec_, X_); });
    for (auto* const each : {&product, &local, &exchange}) each->calibrate();
    for (int i = 0; i < command_.repeat; ++i)
      for (auto* const each : {&product, &local, &exchange}) each->run_batch();
    Timing const times = product.timing();
    result.product_ms = times.median_ms;
    result.local_ms = local.timing().median_ms;
    result.exchange_ms = exchange.timing().median_ms;
    result.batches = times.batches;
    result.launches = times.launches;
    return result;
  }

 private:
  static constexpr int checked_runs = 5;
  static constexpr std::int64_t most_products = 1 << 17;  ///< of a rank's reference

  Block block(char const* label, int columns) const {
    return allocate<Block>(exec_, label, A_.rows(), columns);
  }

  /// Times of the slowest rank; where one is interrupted, all ranks stop together.
  BatchTimer timer(std::function<void()> work) const {
    return {std::move(work), [this] { exec_.fence("Blockspan::measure_on_ranks"); },
            [this](double ms) {
              if (ranks_.any(InterruptGuard::interrupted()))
                throw AgreedError("interrupted: nothing was written");
              return ranks_.largest(ms);
            }};
  }

  /// Several products into a Y filled with NaN, compared bit by bit and against the reference.
  void check(RanksRun& result) const {
    auto const sample = take_local_rows(A_.matrix().global_rows(exec_),
                                        most_products / static_cast<std::int64_t>(X_.extent(1)));
    Reference<Scalar> const reference(
        sample, random_rows<Scalar>(exec_, sample.columns, X_.extent(1), command_.seed));
    auto const first = block("Blockspan::Y_first", result.columns);
    Verdict mine;
    mine.deterministic = true;
    for (int i = 0; i < checked_runs; ++i) {
      auto const& Y = i == 0 ? first : Y_;
      fill_nan(exec_, Y);
      spmm(exec_, Op::none, Scalar(1), A_, X_, Scalar(0), Y);
      if (i > 0 && count_different(exec_, Y, first) > 0) mine.deterministic = false;
    }
    bool const within = reference.compare(gather_rows(exec_, first, reference.rows()), mine);
    mine.not_a_number = count_nan(exec_, first);
    mine.right = within && mine.not_a_number == 0;
    auto& all = result.verdict;
    all.right = ranks_.all(mine.right);
    all.deterministic = ranks_.all(mine.deterministic);
    all.not_a_number = ranks_.sum(mine.not_a_number);
    all.error = ranks_.largest(mine.error);
    all.error_bound = ranks_.largest(mine.error_bound);
    result.checked = ranks_.sum(static_cast<std::int64_t>(reference.rows().size()));
  }

  Exec const& exec_;
  Operator const& A_;
  Communicator ranks_;
  SpmmCommand const& command_;
  Block X_, Y_;
};

inline void require_on_ranks(SpmmCommand const& command) {
  constexpr auto where = "on several ranks";
  require(command.op == "none", where, "--op ", command.op, " is not measured");
  require(command.algorithm != "all", where, "one --algorithm is measured, not all");
  require(command.compare.empty(), where, "--compare has no peers");
  require(command.fault.empty(), where, "--inject-fault is not offered");
}

}  // namespace rank_runs

/// Loads the matrix, checks its product at every width and times it: as a whole, its work alone and
/// its exchange alone. Throws Error, on all ranks, for bad input.
template <class Scalar, class Exec>
RanksResult measure_on_ranks(Exec const& exec, SpmmCommand const& command, ProgressLine& progress,
                             Communicator const& ranks) {
  ranks.run_agreed([&] { rank_runs::require_on_ranks(command); });
  RanksResult result;
  result.device = describe(exec);
  progress.stage("loading " + command.matrix);
  auto matrix = spread<Scalar>(
      exec, ranks, command.matrix, nullptr, [](GeneratorSpec const&) { return true; },
      [&] { return load_matrix<Scalar>(exec, command.matrix); });
  if (auto const order = order_rows(exec, command.partition, command.matrix, *matrix))
    matrix = reorder(exec, *matrix, *order);
  auto const rows = matrix->row_space().global_rows(matrix->local_rows());
  result.ranks = report_of_ranks(exec, *matrix, 1, command.partition);
  result.problem = {scalar_name<Scalar>(), is_complex_v<Scalar>, rows,        rows,
                    matrix->nonzeros(),    sizeof(Scalar),       sizeof(int), sizeof(int)};
  int const widest = *std::max_element(command.columns.begin(), command.columns.end());
  SpmmPlanOptions plan{.columns = widest};
  if (command.algorithm != "auto") plan.algorithm = command.algorithm;
  DistributedOperator<Scalar, Exec> const A(exec, matrix, plan);
  for (int const columns : command.columns) {
    progress.stage(std::to_string(columns) + " columns");
    if (command.layout == "left")
      result.runs.push_back(
          rank_runs::WidthOnRanks<Scalar, Kokkos::LayoutLeft, Exec>(exec, A, columns, command)
              .run());
    else
      result.runs.push_back(
          rank_runs::WidthOnRanks<Scalar, Kokkos::LayoutRight, Exec>(exec, A, columns, command)
              .run());
  }
  return result;
}

}  // namespace blockspan::apps
