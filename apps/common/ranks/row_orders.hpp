#pragma once

#include <memory>
#include <string>
#include <vector>

#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/distributed/row_order.hpp>
#include <blockspan/support/error.hpp>

#include "common/problem/preconditioner_choice.hpp"

// --partition: which rows of a matrix go to which rank. All ranks call these together.

namespace blockspan::apps {

/// The order that `partition` names, for rows that the ranks have as `from` says; null for
/// contiguous, or on one rank. chunk: rows of a chunk of the sums over rows. Throws Error, on all
/// ranks, for bricks of a matrix that is no grid, and where a partitioner is not in this build.
std::shared_ptr<RowOrder const> order_rows(Communicator const& ranks, std::string const& partition,
                                           std::string const& source, RowPartition const& from,
                                           RowPattern const& pattern, std::int64_t chunk);

template <class Scalar, class Exec>
std::shared_ptr<RowOrder const> order_rows(Exec const& exec, std::string const& partition,
                                           std::string const& source,
                                           DistributedMatrix<Scalar, Exec> const& A) {
  auto const& ranks = A.row_space().communicator();
  if (partition == "contiguous" || ranks.size() == 1) return nullptr;
  auto const rows = A.global_rows(exec);
  RowPattern pattern;
  pattern.offsets = rows.offsets;
  pattern.columns = rows.columns;
  return order_rows(ranks, partition, source, A.partition(), pattern,
                    blockspan::blocks::chunk_rows<Exec>(A.partition().global_rows()));
}

/// Refuses what is kept by consecutive rows where --partition takes them apart.
inline void require_consecutive_rows(std::string const& partition, bool needed,
                                     std::string const& option) {
  require(partition == "contiguous" || !needed, "--partition " + partition,
          option + " needs the rows in their order: --partition contiguous");
}
/// The same of what a preconditioner looks at.
inline void require_order(std::string const& partition, PreconditionerChoice const& choice) {
  auto const& inputs = choice.inputs;
  require_consecutive_rows(partition, choice.kind == PreconditionerChoice::Kind::block_jacobi,
                           "--preconditioner block-jacobi");
  require_consecutive_rows(
      partition, !inputs.near_null.empty() || !inputs.coordinates.empty() || inputs.block_size > 1,
      "multigrid of nodes");
}

/// The rows of a block in another order, in host memory; `forward`: from the caller's order.
template <class From, class To>
void reorder_rows(RowOrder const& order, bool forward, From const& from, To const& to) {
  using Scalar = typename To::non_const_value_type;
  auto const columns = from.extent(1);
  std::vector<Scalar> packed;
  for (std::size_t i = 0; i < from.extent(0); ++i)
    for (std::size_t j = 0; j < columns; ++j) packed.push_back(from(i, j));
  auto const width = static_cast<std::int64_t>(columns);
  packed = forward ? order.forward(packed, width) : order.backward(packed, width);
  for (std::size_t i = 0; i < to.extent(0); ++i)
    for (std::size_t j = 0; j < columns; ++j) to(i, j) = packed[i * columns + j];
}

}  // namespace blockspan::apps
