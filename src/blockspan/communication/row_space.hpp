#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>

namespace blockspan {

/// Which rows of every block this rank has: a range of the rows of all ranks, in the order of the
/// ranks. Blocks, operators and preconditioners of a solver have its local rows; sums over rows run
/// over those of all ranks.
///
/// Sums over rows are one binary tree over chunks of neighbouring rows (the solvers' order, see
/// blocks/row_chunks.hpp). Where every rank begins at a multiple of `unit` rows, itself
/// a chunk times a power of two, a rank gives the largest nodes that its rows cover, and all ranks
/// join them as one rank would: the bits do not depend on the number of ranks. Otherwise (unit 0) a
/// rank gives the node of all its rows, and the bits depend on the cuts.
class RowSpace {
 public:
  /// Rows of one process, however many.
  RowSpace() = default;
  /// cuts: size() + 1 ascending values, the first row of every rank and the number of all rows;
  /// the same on all ranks. unit: 0, or what all of them but the last are multiples of; no rank may
  /// have more than most_units of them. Throws Error where that is not so.
  RowSpace(Communicator communicator, std::vector<std::int64_t> cuts, std::int64_t unit);

  /// What a Gram matrix can hold partial results of.
  static constexpr std::int64_t most_units = 512;

  Communicator const& communicator() const;
  /// More than one rank: sums need the others.
  bool distributed() const { return state_ != nullptr && communicator().size() > 1; }
  /// What gathers the partial sums of ranks where they are on devices, so that a sum over rows
  /// needs no host; null where there is none, or (unit 0) a rank without rows.
  DeviceTransport* device_sums() const;
  std::int64_t first_row() const;
  /// Rows of all ranks; `local` where this is the rows of one process.
  std::int64_t global_rows(std::int64_t local) const;
  std::vector<std::int64_t> const& cuts() const;
  std::int64_t unit() const;
  /// A rank gives the sum of all its rows, in one node.
  bool one_partial_per_rank() const { return !distributed() || unit() == 0; }
  /// The rows [first, last) of a rank; [0, local) where this is the rows of one process.
  std::pair<std::int64_t, std::int64_t> range(int rank, std::int64_t local) const;
  /// Throws Error, on every rank alike, unless `local` are the rows that this rank has.
  void require_rows(std::int64_t local, char const* where) const;

  bool operator==(RowSpace const& other) const;

  /// The local rows [first, last) of the nodes that this rank gives, in order.
  std::vector<std::pair<std::int64_t, std::int64_t>> const& nodes() const;

  /// Partial sums of all ranks' nodes, `width` a node: room for nodes_of_all() x width, of which
  /// this rank has filled its own, at my_first_node(). On return the first `width` are the root,
  /// the same on all ranks. Zeros where there are no rows.
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

  /// The same where every rank has room for the largest count of nodes of any of them, as devices
  /// gather them: those of rank r begin at r x most_nodes_of_rank(). Joined (into, from) in this
  /// order, the node at padded_root() is the root.
  std::int64_t most_nodes_of_rank() const;
  std::int64_t padded_root() const;
  std::vector<std::pair<std::int64_t, std::int64_t>> padded_joins() const;

 private:
  struct State;
  void gather(std::byte* values, std::int64_t bytes_of_node) const;
  /// Which node of the gathered list is folded into which, in order; the root is node 0.
  std::vector<std::pair<std::int64_t, std::int64_t>> const& joins() const;

  std::shared_ptr<State const> state_;
};

}  // namespace blockspan
