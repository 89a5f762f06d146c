#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>

namespace blockspan {

/// The rows of every block that this rank owns: a contiguous range of the global rows, in rank
/// order. Blocks, operators and preconditioners of a solver have these local rows; sums over rows
/// run over the rows of all ranks.
///
/// Sums over rows are one binary tree over chunks of consecutive rows (see blocks/row_chunks.hpp).
/// If every rank begins at a multiple of `unit` rows (a chunk times a power of two), a rank
/// contributes the largest nodes that its rows cover, and all ranks join them as one rank would:
/// the bits do not depend on the number of ranks. Otherwise (unit 0) a rank contributes one node,
/// the sum of all its rows, and the bits depend on the partition.
class RowSpace {
 public:
  /// The rows of one process, any number of them.
  RowSpace() = default;
  /// cuts: size() + 1 ascending values, the first row of every rank and the number of all rows; the
  /// same on all ranks. unit: 0, or a divisor of all cuts below the number of rows; no rank may
  /// have more than most_units units. Throws Error where these conditions do not hold.
  RowSpace(Communicator communicator, std::vector<std::int64_t> cuts, std::int64_t unit);

  /// Bounds the memory for the partial results of a Gram matrix.
  static constexpr std::int64_t most_units = 512;

  Communicator const& communicator() const;
  /// Whether there is more than one rank.
  bool distributed() const { return state_ != nullptr && communicator().size() > 1; }
  /// The transport that gathers partial sums in device memory, so that a sum over rows does not
  /// involve the host; null where there is none, or (unit 0) a rank has no rows.
  DeviceTransport* device_sums() const;
  std::int64_t first_row() const;
  /// Rows of all ranks; `local` for the rows of one process.
  std::int64_t global_rows(std::int64_t local) const;
  std::vector<std::int64_t> const& cuts() const;
  std::int64_t unit() const;
  /// Whether a rank contributes one node, the sum of all its rows.
  bool one_partial_per_rank() const { return !distributed() || unit() == 0; }
  /// The rows [first, last) of a rank; [0, local) for the rows of one process.
  std::pair<std::int64_t, std::int64_t> range(int rank, std::int64_t local) const;
  /// Throws Error unless `local` is the number of rows of this rank. Does not communicate: other
  /// ranks do not throw.
  void require_rows(std::int64_t local, char const* where) const;

  bool operator==(RowSpace const& other) const;

  /// The local rows [first, last) of the nodes that this rank contributes, in order.
  std::vector<std::pair<std::int64_t, std::int64_t>> const& nodes() const;

  /// Sums over all ranks. values: nodes_of_all() x width partial sums, of which this rank has
  /// written those of its own nodes, from my_first_node() on; on return the first `width` are the
  /// sums, the same on all ranks. Zeros if there are no rows.
  template <class Fold, class Value>
  void fold(Value* values, std::int64_t width) const {
    if (nodes_of_all() == 0) {
      for (std::int64_t w = 0; w < width; ++w) values[w] = Value();
      return;
    }
    gather(reinterpret_cast<std::byte*>(values), width * static_cast<std::int64_t>(sizeof(Value)));
    for (auto const& [into, from] : joins())
      for (std::int64_t w = 0; w < width; ++w)
        Fold::fold(values[into * width + w], values[from * width + w]);
  }
  std::int64_t nodes_of_all() const;
  std::int64_t my_first_node() const;

  /// The same for gathers of equal length, as on devices: the nodes of rank r begin at r x
  /// most_nodes_of_rank(). padded_joins() lists pairs (into, from); after them the node at
  /// padded_root() is the root.
  std::int64_t most_nodes_of_rank() const;
  std::int64_t padded_root() const;
  std::vector<std::pair<std::int64_t, std::int64_t>> padded_joins() const;

 private:
  struct State;
  void gather(std::byte* values, std::int64_t bytes_of_node) const;
  /// Pairs (into, from) of gathered nodes that are folded, in order; the root is node 0.
  std::vector<std::pair<std::int64_t, std::int64_t>> const& joins() const;

  std::shared_ptr<State const> state_;
};

}  // namespace blockspan
