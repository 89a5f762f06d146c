#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace blockspan {

/// The rows of a matrix, and of every block, that each rank owns: a contiguous range, in rank
/// order. A rank may own none.
class RowPartition {
 public:
  RowPartition() = default;
  /// cuts: the first row of every rank and the number of all rows, ascending from 0; the first rows
  /// are multiples of `unit`, if that is not 0 (see RowSpace). Throws Error otherwise.
  explicit RowPartition(std::vector<std::int64_t> cuts, std::int64_t unit = 0);

  int ranks() const { return static_cast<int>(cuts_.size()) - 1; }
  std::int64_t global_rows() const { return cuts_.back(); }
  std::int64_t first(int rank) const { return cuts_[static_cast<std::size_t>(rank)]; }
  std::int64_t last(int rank) const { return cuts_[static_cast<std::size_t>(rank) + 1]; }
  std::int64_t rows(int rank) const { return last(rank) - first(rank); }
  /// The rank that owns a row. O(log ranks).
  int owner(std::int64_t row) const;

  std::vector<std::int64_t> const& cuts() const { return cuts_; }
  std::int64_t unit() const { return unit_; }

 private:
  std::vector<std::int64_t> cuts_ = {0, 0};
  std::int64_t unit_ = 0;
};

/// Partitions rows into ranges of about equal weight, at multiples of `unit` rows. weights: one for
/// every `unit` rows (the last one possibly for fewer), nonnegative; if all are zero, ranges have
/// about the same size. A cut is at the multiple of `unit` that is nearest to its share of the
/// weight. O(weights).
RowPartition cut_by_weight(std::span<std::int64_t const> weights, std::int64_t rows,
                           std::int64_t unit, int ranks);

/// Partitions rows for sums: into ranges of about equal weight, entries plus rows, at multiples of
/// `unit` (from unit_of_cuts) times the smallest power of two for which no rank has more units than
/// a RowSpace accepts. entries: of every `unit` rows. O(entries.size()).
RowPartition cut_for_sums(std::vector<std::int64_t> entries, std::int64_t rows, std::int64_t unit,
                          int ranks);

/// The unit of partitions with which a sum over rows has the same bits for any number of ranks:
/// `chunk` rows (blocks::chunk_rows, which depends on the number of rows and the backend) times a
/// power of two, such that rows / ranks are at most 256 units.
std::int64_t unit_of_cuts(std::int64_t rows, std::int64_t chunk, int ranks);

}  // namespace blockspan
