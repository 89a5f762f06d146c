#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/exchange_lists.hpp>
#include <blockspan/distributed/partition/local_rows.hpp>
#include <blockspan/distributed/row_partition.hpp>

namespace blockspan {

/// The pattern of the local rows: offsets, number of rows + 1, from 0, and global columns.
struct RowPattern {
  std::span<std::int64_t const> offsets, columns;

  std::int64_t rows() const {
    return offsets.empty() ? 0 : static_cast<std::int64_t>(offsets.size()) - 1;
  }
  std::span<std::int64_t const> row(std::int64_t i) const {
    auto const first = offsets[static_cast<std::size_t>(i)];
    return columns.subspan(
        static_cast<std::size_t>(first),
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1] - first));
  }
};

namespace distributed {
/// Throws Error, on all ranks, unless the pattern has the rows that this rank has, and columns of
/// the matrix.
void require_pattern(char const* where, Communicator const& ranks, RowPartition const& partition,
                     RowPattern const& pattern);
}  // namespace distributed

/// A permutation of the rows of a square matrix, and of every block, distributed over ranks: from
/// the caller's order, partitioned by `from`, to another one, partitioned by `to`. No rank holds an
/// array of global length: it stores the new indices of its rows of `from` and the caller's indices
/// of its rows of `to`. All functions that are not queries are called by all ranks.
class RowOrder {
 public:
  /// places: the new indices of this rank's rows of `from`. Throws Error, on all ranks, if those of
  /// all ranks are not a permutation.
  RowOrder(Communicator ranks, RowPartition from, RowPartition to,
           std::vector<std::int64_t> places);

  RowPartition const& from() const { return from_; }
  RowPartition const& to() const { return to_; }
  std::vector<std::int64_t> const& places() const { return places_; }
  std::vector<std::int64_t> const& originals() const { return originals_; }

  /// values: `width` values for each of this rank's rows of `from`, row by row. Returns the values
  /// of its rows of `to`. One message for every pair of neighbours.
  template <class T>
  std::vector<T> forward(std::vector<T> const& values, std::int64_t width) const {
    return move(values, width, leaving_, arriving_, sends_, receives_);
  }
  /// The inverse: from rows of `to` to rows of `from`.
  template <class T>
  std::vector<T> backward(std::vector<T> const& values, std::int64_t width) const {
    return move(values, width, arriving_, leaving_, receives_, sends_);
  }

  /// given: this rank's rows of `from`. Returns its rows of `to`, with new column indices, sorted
  /// in each row. Throws Error, on all ranks, if they are not such rows. O(entries log(longest
  /// row)).
  template <class Scalar>
  LocalRows<Scalar> rows(LocalRows<Scalar> const& given) const;

 private:
  template <class T>
  std::vector<T> move(std::vector<T> const& values, std::int64_t width,
                      std::vector<std::int64_t> const& leaving,
                      std::vector<std::int64_t> const& arriving, std::vector<HaloPart> const& sends,
                      std::vector<HaloPart> const& receives) const {
    auto const k = static_cast<std::size_t>(width);
    auto const at = [&](auto& list, std::int64_t row) {
      return list.begin() + row * static_cast<std::int64_t>(k);
    };
    std::vector<T> packed, result(arriving.size() * k);
    packed.reserve(values.size());
    for (std::int64_t const row : leaving)
      packed.insert(packed.end(), at(values, row), at(values, row) + width);
    auto const arrived = distributed::exchange_parts<T>(
        ranks_, sends, packed, distributed::even_offsets(leaving.size(), width), receives,
        distributed::even_offsets(arriving.size(), width));
    for (std::size_t i = 0; i < arriving.size(); ++i)
      std::copy_n(at(arrived, static_cast<std::int64_t>(i)), k, at(result, arriving[i]));
    return result;
  }

  /// The new indices of the columns of `rows`.
  std::vector<std::int64_t> renumbered(RowPattern const& rows) const;

  Communicator ranks_;
  RowPartition from_, to_;
  std::vector<std::int64_t> places_, originals_;
  std::vector<std::int64_t> leaving_, arriving_;  ///< local rows, in the order of the messages
  std::vector<HaloPart> sends_, receives_;        ///< parts of these lists
};

template <class Scalar>
LocalRows<Scalar> RowOrder::rows(LocalRows<Scalar> const& given) const {
  using Entry = std::pair<std::int64_t, Scalar>;
  RowPattern pattern;
  pattern.offsets = given.offsets;
  pattern.columns = given.columns;
  auto const indices = renumbered(pattern);
  std::vector<std::int64_t> lengths, columns;
  std::vector<Scalar> values;
  std::vector<Entry> row;
  std::vector<std::int64_t> from = {0};
  for (std::size_t i = 0; i + 1 < given.offsets.size(); ++i)
    lengths.push_back(given.offsets[i + 1] - given.offsets[i]);
  for (std::int64_t const i : leaving_) {
    row.clear();
    for (auto k = given.offsets[static_cast<std::size_t>(i)];
         k < given.offsets[static_cast<std::size_t>(i) + 1]; ++k)
      row.emplace_back(indices[static_cast<std::size_t>(k)],
                       given.values[static_cast<std::size_t>(k)]);
    std::stable_sort(row.begin(), row.end(),
                     [](Entry const& a, Entry const& b) { return a.first < b.first; });
    for (Entry const& entry : row) {
      columns.push_back(entry.first);
      values.push_back(entry.second);
    }
    from.push_back(static_cast<std::int64_t>(columns.size()));
  }
  LocalRows<Scalar> result;
  for (std::int64_t const length : forward(lengths, 1))
    result.offsets.push_back(result.offsets.back() + length);
  std::vector<std::int64_t> to = {0};
  for (std::int64_t const i : arriving_)
    to.push_back(to.back() + result.offsets[static_cast<std::size_t>(i) + 1] -
                 result.offsets[static_cast<std::size_t>(i)]);
  auto const place = [&](auto const& sent, auto& target) {
    using Value = typename std::remove_reference_t<decltype(target)>::value_type;
    auto const arrived =
        distributed::exchange_parts<Value>(ranks_, sends_, sent, from, receives_, to);
    target.resize(arrived.size());
    for (std::size_t i = 0; i < arriving_.size(); ++i)
      std::copy(arrived.begin() + to[i], arrived.begin() + to[i + 1],
                target.begin() + result.offsets[static_cast<std::size_t>(arriving_[i])]);
  };
  place(columns, result.columns);
  place(values, result.values);
  return result;
}

/// The matrix in the new order. Called by all ranks. Throws Error as DistributedMatrix does.
template <class Scalar, class Exec>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> reorder(
    Exec const& exec, DistributedMatrix<Scalar, Exec> const& A, RowOrder const& order) {
  return std::make_shared<DistributedMatrix<Scalar, Exec> const>(
      exec, A.row_space().communicator(), order.to(), order.rows(A.global_rows(exec)));
}

/// The order that assigns to every rank the rows of its part: first the rows that read only rows of
/// their own part, then the others, both in the caller's order. part: for each local row the rank,
/// in [0, ranks). Called by all ranks. Throws Error, on all ranks, for other values.
RowOrder order_by_parts(Communicator const& ranks, RowPartition const& from,
                        RowPattern const& pattern, std::vector<int> const& part);

/// The reverse Cuthill-McKee order (1969, doi:10.1145/800195.805928) of the graph of A + A^T,
/// partitioned at multiples of `chunk` rows times a power of two into parts of about equal weight
/// (cut_for_sums). Computed by rank 0, which temporarily holds the whole pattern. Called by all
/// ranks. Throws Error, on all ranks, for more than 2^31 rows or entries.
RowOrder order_by_cuthill_mckee(Communicator const& ranks, RowPartition const& from,
                                RowPattern const& pattern, std::int64_t chunk);

/// The parts of rows [first, last) of a grid, x fastest, with `unknowns` rows a point, partitioned
/// into `parts` bricks of about equal size. The factors of `parts` along the axes minimize the
/// surface of the bricks. O(last - first).
std::vector<int> brick_parts(std::span<std::int64_t const, 3> grid, int unknowns,
                             std::int64_t first, std::int64_t last, int parts);

}  // namespace blockspan
