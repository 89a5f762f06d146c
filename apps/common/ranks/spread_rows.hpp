#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/ranks/row_orders.hpp"

// How the blocks of a command come to its ranks, and from them to files. All ranks call these
// together.

namespace blockspan::apps {

/// The rows of all ranks, and the caller's numbering of them.
struct SpreadRows {
  RowSpace space;
  std::shared_ptr<RowOrder const> order;  ///< null: as `space` does

  std::int64_t local() const { return here(space); }
  /// In the caller's order.
  RowSpace callers() const {
    return order ? RowSpace(space.communicator(), order->from().cuts(), 0) : space;
  }
  static std::int64_t here(RowSpace const& space) {
    auto const [first, last] = space.range(space.communicator().rank(), 0);
    return last - first;
  }
};

/// The local rows of a block of the caller's rows.
template <class Scalar, class Exec>
Block<Scalar, Exec> in_order(Exec const& exec, SpreadRows const& rows,
                             Block<Scalar, Exec> const& given) {
  if (!rows.order) return given;
  auto const block = allocate<Block<Scalar, Exec>>(exec, "Blockspan::rows", rows.local(),
                                                   static_cast<std::int64_t>(given.extent(1)));
  auto const host = Kokkos::create_mirror_view(block);
  reorder_rows(*rows.order, true, Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), given),
               host);
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::in_order");
  return block;
}

/// A block of host memory where Exec computes.
template <class Scalar, class Exec, class Host>
Block<Scalar, Exec> to_device(Exec const& exec, std::string const& label, Host const& host) {
  auto const block = allocate<Block<Scalar, Exec>>(exec, label, host.extent(0), host.extent(1));
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::to_device");
  return block;
}

/// The local rows of the block of a file, which rank 0 reads; none without a name. Throws Error, on
/// all ranks, where the file has other rows; one rank takes what it has.
template <class Scalar, class Exec>
Block<Scalar, Exec> load_rows(Exec const& exec, SpreadRows const& rows, std::string const& file) {
  if (file.empty()) return {};
  auto const callers = rows.callers();
  auto const& ranks = callers.communicator();
  auto const label = "Blockspan::" + file;
  if (ranks.size() == 1)
    return to_device<Scalar>(exec, label, read_block<Scalar>(input_file(file)));
  std::int64_t const all = callers.global_rows(SpreadRows::here(callers));
  HostBlock<Scalar> whole;
  ranks.run_agreed([&] {
    if (ranks.rank() != 0) return;
    whole = read_block<Scalar>(input_file(file));
    require(static_cast<std::int64_t>(whole.extent(0)) == all, file, "it has ", whole.extent(0),
            " rows, the matrix has ", all);
  });
  auto columns = static_cast<std::int64_t>(whole.extent(1));
  ranks.broadcast(std::span(&columns, 1), 0);
  auto const block = ranks.run_agreed([&] {
    return allocate<Block<Scalar, Exec>>(exec, label, SpreadRows::here(callers), columns);
  });
  auto const host = Kokkos::create_mirror_view(block);
  scatter_block(callers, whole, host);
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::load_rows");
  return in_order<Scalar, Exec>(exec, rows, block);
}

/// All rows of a block, on rank 0, in the caller's order.
template <class Scalar, class Exec>
HostBlock<Scalar> gather_rows(SpreadRows const& rows, Block<Scalar, Exec> const& local) {
  auto const callers = rows.callers();
  auto const& ranks = callers.communicator();
  auto const room = [&](std::int64_t n) {
    return ranks.run_agreed([&] {
      return allocate<HostBlock<Scalar>>(Kokkos::DefaultHostExecutionSpace(), "Blockspan::rows", n,
                                         static_cast<std::int64_t>(local.extent(1)));
    });
  };
  auto const copy = ranks.run_agreed(
      [&] { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), local); });
  auto host = copy;
  if (rows.order) {
    auto const given = room(SpreadRows::here(callers));
    reorder_rows(*rows.order, false, host, given);
    host = given;
  }
  auto const n = callers.global_rows(static_cast<std::int64_t>(host.extent(0)));
  auto const whole = room(ranks.rank() == 0 ? n : 0);
  gather_block(callers, host, whole);
  return whole;
}

/// Writes all rows of the leading columns of a block to the file that rank 0 has claimed. Returns,
/// on rank 0, what went wrong, if anything did.
template <class Scalar, class Exec>
std::optional<std::string> write_rows(SpreadRows const& rows, Block<Scalar, Exec> const& local,
                                      int columns, OutputFile const* file) {
  if (rows.space.communicator().size() == 1) {
    if (file == nullptr) return std::nullopt;
    return file->write_by([&](std::string const& path) {
      write_block(path, Kokkos::subview(local, Kokkos::ALL, std::pair(0, columns)));
    });
  }
  HostBlock<Scalar> whole;
  std::optional<std::string> fault;
  try {
    whole = gather_rows<Scalar, Exec>(rows, local);
  } catch (AgreedError const& error) {  // no room for all rows, say
    fault = error.what();
  }
  if (file == nullptr) return std::nullopt;
  return file->write_by([&](std::string const& path) {
    if (fault) throw Error("cannot write " + path + ": " + *fault);
    write_block(path, Kokkos::subview(whole, Kokkos::ALL, std::pair(0, columns)));
  });
}

/// The nodes of a file that have local rows: rank 0 reads it. None without a name. Throws Error as
/// load_rows does.
template <class Real, class Exec>
Block<Real, Exec> load_nodes(Exec const& exec, RowPartition const& rows, Communicator const& ranks,
                             std::string const& file) {
  if (file.empty()) return {};
  if (ranks.size() == 1)
    return to_device<Real>(exec, "Blockspan::" + file, read_block<Real>(input_file(file)));
  HostBlock<Real> whole;
  ranks.run_agreed([&] {
    if (ranks.rank() != 0) return;
    whole = read_block<Real>(input_file(file));
    auto const nodes = static_cast<std::int64_t>(whole.extent(0)),
               d = static_cast<std::int64_t>(whole.extent(1));
    require((d == 2 || d == 3) && nodes * d == rows.global_rows(), "--coordinates", file, " is ",
            nodes, " x ", d, ", the matrix has ", rows.global_rows(), " rows");
  });
  auto d = static_cast<std::int64_t>(whole.extent(1));
  ranks.broadcast(std::span(&d, 1), 0);
  auto const nodes = [&](int rank) {
    auto const first = rows.first(rank), last = rows.last(rank);
    return std::pair(first / d, last > first ? (last - 1) / d + 1 : first / d);
  };
  auto const [first, last] = nodes(ranks.rank());
  auto const mine = blockspan::distributed::deal<Real>(ranks, 0, (last - first) * d, [&](int rank) {
    auto const [from, to] = nodes(rank);
    return std::vector<Real>(whole.data() + from * d, whole.data() + to * d);
  });
  auto const block = allocate<Block<Real, Exec>>(exec, "Blockspan::" + file, last - first, d);
  auto const host = Kokkos::create_mirror_view(block);
  for (std::size_t k = 0; k < mine.size(); ++k)
    host(k / static_cast<std::size_t>(d), k % static_cast<std::size_t>(d)) = mine[k];
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::load_nodes");
  return block;
}

}  // namespace blockspan::apps
