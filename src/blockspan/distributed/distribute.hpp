#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan {

namespace distributed {

/// Throws Error unless the partition has a part for each rank.
inline void require_parts(char const* where, Communicator const& ranks,
                          RowPartition const& partition) {
  require(partition.ranks() == ranks.size(), where, "a partition for ", partition.ranks(),
          " ranks, there are ", ranks.size());
}

/// Partitions rows at chunk boundaries, with balanced entries and rows. offsets: of all rows.
template <class Exec, class Offset>
RowPartition partition_by_entries(Offset const* offsets, std::int64_t rows, int ranks) {
  std::int64_t const unit = unit_of_cuts(rows, chunk_rows<Exec>(rows), ranks);
  std::vector<std::int64_t> entries;
  for (std::int64_t first = 0; first < rows; first += unit)
    entries.push_back(
        static_cast<std::int64_t>(offsets[std::min(first + unit, rows)] - offsets[first]));
  return cut_for_sums(std::move(entries), rows, unit, ranks);
}

/// Broadcasts the partition that make() returns on the root.
template <class Make>
RowPartition of_root(Communicator const& ranks, int root, Make const& make) {
  std::vector<std::int64_t> cuts;
  std::int64_t unit = 0;
  if (ranks.rank() == root) {
    RowPartition const partition = make();
    cuts = partition.cuts(), unit = partition.unit();
  }
  ranks.broadcast(cuts, root);
  ranks.broadcast(std::span(&unit, 1), root);
  return RowPartition(std::move(cuts), unit);
}

/// Scatters elements from `root` to all ranks. get(r): the elements of rank r, called on the root.
/// mine: their number on this rank.
template <class T, class Get>
std::vector<T> deal(Communicator const& ranks, int root, std::int64_t mine, Get const& get) {
  std::vector<T> here(static_cast<std::size_t>(mine));
  for (int r = 0; r < ranks.size(); ++r) {
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    std::vector<T> packed;
    if (ranks.rank() == root) packed = get(r);
    if (r == root) {
      if (r == ranks.rank()) here = std::move(packed);
      continue;
    }
    if (ranks.rank() == root) out.push_back({r, std::as_bytes(std::span(packed))});
    if (ranks.rank() == r) in.push_back({root, std::as_writable_bytes(std::span(here))});
    if (auto const pending = ranks.start(std::move(in), std::move(out))) pending->finish();
  }
  return here;
}

}  // namespace distributed

/// A on one rank, sharing its arrays; the partition is `like`, or has the unit of chunks of the
/// sums over rows. One pass over A; fences the instance. Throws Error as the constructor does.
template <class Scalar, class Exec>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> on_one_rank(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A, Communicator const& ranks = {},
    RowPartition const* like = nullptr) {
  std::int64_t const n = A.numRows();
  RowPartition const all({0, n}, unit_of_cuts(n, blocks::chunk_rows<Exec>(n), 1));
  return std::make_shared<DistributedMatrix<Scalar, Exec> const>(exec, ranks, like ? *like : all,
                                                                 A);
}

/// Distributes the rows of a square matrix on `root` over all ranks: partitioned as `like` (a mass
/// matrix has the partition of its matrix), or at chunk boundaries of the sums over rows, balanced
/// by entries. A: any CrsMatrix whose arrays are in host memory or can be mirrored; not read on
/// ranks other than `root`. On one rank, if A is in the memory of Exec, its arrays are shared.
/// Called by all ranks; fences the instance. O(nonzeros) on the root, which needs a temporary copy
/// on the host of a matrix on a device. Throws Error, on all ranks, where the matrix is not square,
/// and as DistributedMatrix does.
template <class Exec, class Matrix>
std::shared_ptr<DistributedMatrix<sparse::scalar_t<Matrix>, Exec> const> distribute(
    Exec const& exec, Communicator const& ranks, Matrix const& A,
    RowPartition const* like = nullptr, int root = 0) {
  using Scalar = sparse::scalar_t<Matrix>;
  using Offset = sparse::offset_t<Matrix>;
  using Host = Kokkos::HostSpace;
  bool const here = ranks.rank() == root;
  ranks.run_agreed([&] {
    if (!here) return;
    if (like) distributed::require_parts("distribute", ranks, *like);
    require(static_cast<std::int64_t>(A.numRows()) == A.numCols(), "distribute",
            "the matrix must be square (", A.numRows(), " x ", A.numCols(), ")");
    require(!like || like->global_rows() == A.numRows(), "distribute", "a partition of ",
            like ? like->global_rows() : 0, " rows for a matrix of ", A.numRows());
  });
  if constexpr (std::is_same_v<Matrix, CrsMatrix<Scalar, Exec>>)
    if (ranks.size() == 1) return on_one_rank(exec, A, ranks, like);
  auto const offsets = Kokkos::create_mirror_view_and_copy(Host(), A.graph.row_map);
  auto const entries = Kokkos::create_mirror_view_and_copy(Host(), A.graph.entries);
  auto const values = Kokkos::create_mirror_view_and_copy(Host(), A.values);
  auto const partition = distributed::of_root(ranks, root, [&] {
    return like ? *like
                : distributed::partition_by_entries<Exec, Offset>(offsets.data(), A.numRows(),
                                                                  ranks.size());
  });

  std::int64_t const n = partition.rows(ranks.rank());
  auto const range = [&](int r) {
    if (partition.rows(r) == 0) return std::pair(std::int64_t{0}, std::int64_t{0});
    return std::pair(static_cast<std::int64_t>(offsets(partition.first(r))),
                     static_cast<std::int64_t>(offsets(partition.last(r))));
  };
  LocalRows<Scalar> local;
  auto lengths = distributed::deal<std::int64_t>(ranks, root, n, [&](int r) {
    std::vector<std::int64_t> result;
    for (auto i = partition.first(r); i < partition.last(r); ++i)
      result.push_back(static_cast<std::int64_t>(offsets(i + 1) - offsets(i)));
    return result;
  });
  for (std::int64_t const length : lengths) local.offsets.push_back(local.offsets.back() + length);
  local.columns = distributed::deal<std::int64_t>(ranks, root, local.offsets.back(), [&](int r) {
    auto const [first, last] = range(r);
    return std::vector<std::int64_t>(entries.data() + first, entries.data() + last);
  });
  local.values = distributed::deal<Scalar>(ranks, root, local.offsets.back(), [&](int r) {
    auto const [first, last] = range(r);
    return std::vector<Scalar>(values.data() + first, values.data() + last);
  });
  return std::make_shared<DistributedMatrix<Scalar, Exec> const>(exec, ranks, partition, local);
}

/// The matrix of a generator spec. Every rank generates its own rows; if rows of a spec cannot be
/// generated independently, rank 0 generates all. Partitioned at chunk boundaries of the sums over
/// rows, balanced by rows, or as `like`. Called by all ranks. Throws Error, on all ranks, as
/// generate does, and where the matrix is not square.
template <class Scalar, class Exec>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> generate_distributed(
    Exec const& exec, Communicator const& ranks, std::string_view text,
    RowPartition const* like = nullptr) {
  auto const spec = ranks.run_agreed([&] { return parse_generator_spec(text); });
  if (!knows_rows(spec) || ranks.size() == 1) {
    CrsMatrix<Scalar, Exec> A;
    ranks.run_agreed([&] {
      if (ranks.rank() == 0) A = generate<Scalar>(exec, spec);
    });
    return distribute(exec, ranks, A, like);
  }
  std::int64_t const chunk = blocks::chunk_rows<Exec>(spec.rows);
  std::int64_t const unit = unit_of_cuts(spec.rows, chunk, ranks.size());
  auto const even = [&] {
    std::vector<std::int64_t> const equal(static_cast<std::size_t>(ceil_div(spec.rows, unit)), 1);
    return cut_by_weight(equal, spec.rows, unit, ranks.size());
  };
  RowPartition const partition = like ? *like : even();
  ranks.run_agreed([&] { distributed::require_parts("generate_distributed", ranks, partition); });
  int const me = ranks.rank();
  auto const first = partition.first(me), last = partition.last(me);
  auto const [own, across] = ranks.run_agreed([&] {
    require(spec.rows == spec.columns, "generate_distributed", "the matrix must be square (",
            spec.rows, " x ", spec.columns, ")");
    require(partition.global_rows() == spec.rows, "generate_distributed", "a partition of ",
            partition.global_rows(), " rows for a matrix of ", spec.rows);
    auto const A = generate_rows<Scalar>(exec, spec, first, last);
    auto const columns = distributed::split_columns<Exec, Scalar>(exec, A, static_cast<int>(first),
                                                                  static_cast<int>(last));
    return std::pair(columns.own, distributed::host_rows(columns.across, {{0, last - first}}, 0));
  });
  return std::make_shared<DistributedMatrix<Scalar, Exec> const>(exec, ranks, partition, own,
                                                                 across);
}

/// The matrix of rows that are already distributed over the ranks, consecutive in rank order, with
/// global columns. Called by all ranks; fences the instance. Throws Error as DistributedMatrix
/// does.
template <class Exec, class Scalar>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> distribute(Exec const& exec,
                                                                  Communicator const& ranks,
                                                                  LocalRows<Scalar> const& rows) {
  auto const counts = ranks.gather(static_cast<std::int64_t>(rows.offsets.size()) - 1);
  std::vector<std::int64_t> cuts{0};
  for (std::int64_t const count : counts) cuts.push_back(cuts.back() + count);
  std::int64_t unit = blocks::chunk_rows<Exec>(cuts.back());
  auto const cut_at = [&](std::int64_t size) {
    return std::all_of(cuts.begin(), cuts.end(),
                       [&](auto cut) { return cut % size == 0 || cut == cuts.back(); });
  };
  if (!cut_at(unit)) unit = 0;
  while (unit > 0 && unit < cuts.back() && cut_at(2 * unit)) unit *= 2;
  return std::make_shared<DistributedMatrix<Scalar, Exec> const>(
      exec, ranks, RowPartition(std::move(cuts), unit), rows);
}

namespace distributed {

/// Calls f(i, j, index) for the entries of a block, index: column-major; by chunks of rows, so that
/// blocks of either layout are traversed along cache lines.
template <class Function>
void for_each_entry(std::int64_t rows, std::int64_t columns, Function const& f) {
  constexpr std::int64_t together = 64;
  for (std::int64_t first = 0; first < rows; first += together) {
    std::int64_t const last = std::min(first + together, rows);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = first; i < last; ++i) f(i, j, static_cast<std::size_t>(j * rows + i));
  }
}

/// Throws Error, on all ranks, unless each rank has a block of its own rows, and `whole` on `root`
/// has all rows and the same number of columns.
template <class WholeView, class LocalView>
void require_extents(char const* where, RowSpace const& space, WholeView const& whole,
                     LocalView const& local, int root) {
  auto const& ranks = space.communicator();
  auto const n = static_cast<std::int64_t>(local.extent(0)),
             k = static_cast<std::int64_t>(local.extent(1)), all = space.global_rows(n);
  std::int64_t of_root[] = {static_cast<std::int64_t>(whole.extent(0)),
                            static_cast<std::int64_t>(whole.extent(1))};
  ranks.broadcast(std::span<std::int64_t>(of_root), root);
  ranks.run_agreed([&] {
    space.require_rows(n, where);
    require(of_root[0] == all && of_root[1] == k, where, "the whole block on rank ", root, " is ",
            of_root[0], " x ", of_root[1], ", the rows of all ranks are ", all, " x ", k);
  });
}

}  // namespace distributed

/// Overwrites `local`, this rank's rows x k of any layout in host memory, with its rows of `whole`:
/// all rows x k in host memory on `root`, not read on other ranks. Called by all ranks; throws
/// Error on all of them if extents do not match. One message and one packed copy per rank.
template <class WholeView, class LocalView>
void scatter_block(RowSpace const& space, WholeView const& whole, LocalView const& local,
                   int root = 0) {
  using Scalar = typename LocalView::non_const_value_type;
  distributed::require_extents("blockspan::scatter_block", space, whole, local, root);
  auto const& ranks = space.communicator();
  auto const n = static_cast<std::int64_t>(local.extent(0)),
             k = static_cast<std::int64_t>(local.extent(1));
  auto const mine = distributed::deal<Scalar>(ranks, root, n * k, [&](int r) {
    auto const [first, last] = space.range(r, n);
    std::vector<Scalar> packed(static_cast<std::size_t>((last - first) * k));
    distributed::for_each_entry(
        last - first, k, [&, from = first](std::int64_t i, std::int64_t j, std::size_t place) {
          packed[place] = whole(from + i, j);
        });
    return packed;
  });
  distributed::for_each_entry(
      n, k, [&](std::int64_t i, std::int64_t j, std::size_t place) { local(i, j) = mine[place]; });
}

/// The inverse: overwrites `whole` on `root` with the rows of all ranks, in order. Arguments and
/// cost as above.
template <class LocalView, class WholeView>
void gather_block(RowSpace const& space, LocalView const& local, WholeView const& whole,
                  int root = 0) {
  using Scalar = typename LocalView::non_const_value_type;
  distributed::require_extents("blockspan::gather_block", space, whole, local, root);
  auto const& ranks = space.communicator();
  auto const n = static_cast<std::int64_t>(local.extent(0)),
             k = static_cast<std::int64_t>(local.extent(1));
  bool const to_here = root == ranks.rank();
  for (int r = 0; r < ranks.size(); ++r) {
    auto const [first, last] = space.range(r, n);
    std::int64_t const count = last - first, from = first;
    bool const from_here = r == ranks.rank();
    bool const sends = from_here && !to_here, receives = to_here && !from_here;
    std::vector<Scalar> rows(sends || receives ? static_cast<std::size_t>(count * k) : 0);
    if (sends)
      distributed::for_each_entry(n, k, [&](std::int64_t i, std::int64_t j, std::size_t place) {
        rows[place] = local(i, j);
      });
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    if (sends) out.push_back({root, std::as_bytes(std::span(rows))});
    if (receives) in.push_back({r, std::as_writable_bytes(std::span(rows))});
    if (auto const pending = ranks.start(std::move(in), std::move(out))) pending->finish();
    if (!to_here) continue;
    distributed::for_each_entry(count, k, [&](std::int64_t i, std::int64_t j, std::size_t place) {
      whole(from + i, j) = from_here ? local(i, j) : rows[place];
    });
  }
}

}  // namespace blockspan
