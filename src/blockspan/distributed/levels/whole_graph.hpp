#pragma once

#include <cstdint>
#include <vector>

#include <blockspan/distributed/halo/exchange_lists.hpp>
#include <blockspan/distributed/row_order.hpp>
#include <blockspan/sparse/host/graph_pattern.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::distributed {

/// The pattern of all rows, on rank 0.
struct WholePattern {
  std::vector<std::int64_t> offsets{0}, columns;
};

/// Called by all ranks; empty except on rank 0. Throws Error, on all ranks, for more than 2^31 rows
/// or entries.
inline WholePattern collect_pattern(Communicator const& ranks, RowPartition const& partition,
                                    RowPattern const& pattern) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  require_pattern("the order of rows", ranks, partition, pattern);
  auto const entries = ranks.sum(static_cast<std::int64_t>(pattern.columns.size()));
  ranks.run_agreed([&] {
    require(partition.global_rows() <= most && entries <= most, "the order of rows",
            partition.global_rows(), " rows and ", entries,
            " entries are more than one rank can order");
  });
  WholePattern mine;
  if (!pattern.offsets.empty()) mine.offsets.assign(pattern.offsets.begin(), pattern.offsets.end());
  mine.columns.assign(pattern.columns.begin(), pattern.columns.end());
  return gather_rows(ranks, mine, 0);
}

/// The graph of A + A^T.
inline Neighbours<int> whole_graph(WholePattern const& whole) {
  auto const rows = static_cast<std::int64_t>(whole.offsets.size()) - 1;
  HostArray<std::int64_t> const offsets("offsets", whole.offsets.size());
  HostArray<int> const columns("columns", whole.columns.size());
  for (std::size_t i = 0; i < whole.offsets.size(); ++i) offsets(i) = whole.offsets[i];
  for (std::size_t k = 0; k < whole.columns.size(); ++k)
    columns(k) = static_cast<int>(whole.columns[k]);
  return graph_pattern(HostPattern<std::int64_t, int>{rows, rows, offsets, columns});
}

}  // namespace blockspan::distributed
