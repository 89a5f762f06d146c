#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/pack_rows.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::distributed {

/// The packed block of a distributed product, and the exchange that fills it: rows of lower ranks,
/// of this rank, of higher ranks, k columns each. With a device transport in stream order;
/// otherwise the host waits for the messages, which are in device memory if MPI accepts it, else
/// staged through page-locked memory. Memory grows to the widest block so far, so only one exchange
/// at a time.
template <class Scalar, class Exec>
class PackedExchange {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;

  explicit PackedExchange(std::shared_ptr<Matrix const> matrix) : matrix_(std::move(matrix)) {
    if (device() != nullptr) comm_exec_ = instance_on<Exec>(device()->own_stream());
  }

  /// The packed block of k columns, after an exchange with k columns.
  Block<Scalar, Exec> block(std::size_t k) const {
    return Block<Scalar, Exec>(packed_.data(), static_cast<std::size_t>(matrix_->packed_rows()), k);
  }

  /// No exchange is needed, neither with other ranks nor into the packed block.
  bool idle() const { return matrix_->packed_rows() == 0 && matrix_->halo().sent.empty(); }

  /// Fills the packed block with rows of x, and waits for the rows of other ranks.
  void gather_halo(Exec const& exec, BlockRef<Scalar const> const& x) const {
    gather_halo(
        exec, x, [] {}, [](Exec const&) {});
  }
  /// Fills the packed block with rows of x. interior() runs while rows of other ranks are in
  /// transit, ends(exec) after they have arrived. With a device transport, packing and ends() run
  /// on its stream, concurrently with the interior.
  template <class Interior, class Ends>
  void gather_halo(Exec const& exec, BlockRef<Scalar const> const& x, Interior const& interior,
                   Ends const& ends) const {
    std::int64_t const k = x.columns;
    auto const& halo = matrix_->halo();
    auto const sent = static_cast<std::int64_t>(halo.sent.size());
    grow(exec, k);
    auto const pack = [&](Exec const& on) {
      pack_rows<Exec, Scalar>(on, x, {matrix_->sent_rows().data(), sent, sent_.data()},
                              {matrix_->packed_from().data(), matrix_->own_rows(),
                               packed_.data() + matrix_->lower_rows() * k});
    };
    if (halo.sends.empty() && halo.receives.empty()) {
      pack(exec);
      interior();
      ends(exec);
    } else if (device() != nullptr) {
      void* const stream = native_stream(exec);
      if (!comm_exec_) pack(exec);
      device()->begin(stream);
      if (comm_exec_) pack(*comm_exec_);
      interior();
      send(messages(sent_, halo.sends, packed_, halo.receives, k));
      if (comm_exec_) ends(*comm_exec_);
      device()->finish(stream);
      if (!comm_exec_) ends(exec);
    } else {
      pack(exec);
      if (by_host()) copy(exec, host_sent_, sent_, 0, sent * k);
      exec.fence("Blockspan::distributed: rows for other ranks");
      auto const pending =
          by_host() ? start(messages(host_sent_, halo.sends, host_packed_, halo.receives, k))
                    : start(messages(sent_, halo.sends, packed_, halo.receives, k));
      interior();
      if (pending) pending->finish();  // null: no columns
      if (by_host()) copy_halo(exec, packed_, host_packed_, k);
      ends(exec);
    }
  }

  /// The reverse exchange: contribute(block) computes contributions to the rows of the packed
  /// block, which are added to y, those of other ranks in rank order. overlapped(), after which y
  /// may be added to, runs while they are in transit.
  template <class Contribute, class Overlapped>
  void scatter_add_halo(Exec const& exec, BlockRef<Scalar> const& y, Contribute const& contribute,
                        Overlapped const& overlapped) const {
    std::int64_t const k = y.columns;
    auto const& halo = matrix_->halo();
    grow(exec, k);
    contribute(block(static_cast<std::size_t>(k)));
    auto const own = [&] {
      overlapped();
      add_rows<Exec, Scalar>(exec, packed_.data() + matrix_->lower_rows() * k,
                             matrix_->packed_from().data(), matrix_->own_rows(), y);
    };
    if (halo.sends.empty() && halo.receives.empty()) return own();
    if (device() != nullptr) {
      device()->begin(native_stream(exec));
      own();
      send(messages(packed_, halo.receives, sent_, halo.sends, k));
      device()->finish(native_stream(exec));
    } else {
      if (by_host()) copy_halo(exec, host_packed_, packed_, k);
      exec.fence("Blockspan::distributed: contributions to rows of other ranks");
      auto const pending =
          by_host() ? start(messages(host_packed_, halo.receives, host_sent_, halo.sends, k))
                    : start(messages(packed_, halo.receives, sent_, halo.sends, k));
      own();
      if (pending) pending->finish();  // null: no columns
      if (by_host())
        copy(exec, sent_, host_sent_, 0, static_cast<std::int64_t>(halo.sent.size()) * k);
    }
    for (auto const& from : halo.sends)
      add_rows<Exec, Scalar>(exec, sent_.data() + from.first * k,
                             matrix_->sent_rows().data() + from.first, from.count, y);
    exec.fence("Blockspan::distributed: contributions of other ranks");
  }

  /// Allocates memory for k columns.
  void grow(Exec const& exec, std::int64_t k) const {
    if (k <= columns_ || idle()) return;
    auto const make = [&](Memory& memory, HostMemory& host, std::int64_t rows) {
      memory = allocate<Memory>(exec, "Blockspan::distributed::rows", rows * k);
      if constexpr (runs_on_host_v<Exec>)
        host = memory;
      else if (by_host())
        host = allocate<HostMemory>(Kokkos::DefaultHostExecutionSpace(),
                                    "Blockspan::distributed::rows", rows * k);
    };
    exec.fence("Blockspan::distributed grows");
    make(packed_, host_packed_, matrix_->packed_rows());
    make(sent_, host_sent_, static_cast<std::int64_t>(matrix_->halo().sent.size()));
    columns_ = k;
  }

 private:
  using Memory = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using HostMemory =
      Kokkos::View<Scalar*, std::conditional_t<runs_on_host_v<Exec>, typename Exec::memory_space,
                                               Kokkos::SharedHostPinnedSpace>>;
  struct Messages {
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
  };

  Communicator const& ranks() const { return matrix_->row_space().communicator(); }
  DeviceTransport* device() const { return ranks().device(); }
  bool by_host() const { return device() == nullptr && !ranks().takes_device_memory(); }

  auto start(Messages messages) const {
    return ranks().start(std::move(messages.in), std::move(messages.out));
  }
  void send(Messages const& messages) const { device()->start(messages.in, messages.out); }

  /// Messages that send the `sends` parts of one array and receive the `receives` parts of the
  /// other. Parts of the halo are located in the packed block.
  template <class Rows>
  Messages messages(Rows const& from, std::vector<HaloPart> const& sends, Rows const& to,
                    std::vector<HaloPart> const& receives, std::int64_t k) const {
    auto const rows = [&](Rows const& memory, HaloPart const& part) {
      bool const in_halo = memory.data() == host_packed_.data() || memory.data() == packed_.data();
      std::int64_t const first = in_halo ? place(part.first) : part.first;
      return std::span(memory.data() + first * k, static_cast<std::size_t>(part.count * k));
    };
    Messages result;
    for (auto const& part : receives)
      result.in.push_back({part.rank, std::as_writable_bytes(rows(to, part))});
    for (auto const& part : sends)
      result.out.push_back({part.rank, std::as_bytes(rows(from, part))});
    return result;
  }

  /// The index of a halo row in the packed block, where this rank's rows are between lower and
  /// higher ranks.
  std::int64_t place(std::int64_t row) const {
    return row < matrix_->lower_rows() ? row : row + matrix_->own_rows();
  }

  /// Copies the rows of other ranks in the packed block between a device and its host.
  template <class To, class From>
  void copy_halo(Exec const& exec, To const& to, From const& from, std::int64_t k) const {
    std::int64_t const behind = matrix_->lower_rows() + matrix_->own_rows();
    copy(exec, to, from, 0, matrix_->lower_rows() * k);
    copy(exec, to, from, behind * k, (matrix_->packed_rows() - behind) * k);
  }

  template <class To, class From>
  static void copy(Exec const& exec, To const& to, From const& from, std::int64_t first,
                   std::int64_t count) {
    if constexpr (!runs_on_host_v<Exec>) {
      std::pair<std::int64_t, std::int64_t> const range(first, first + count);
      Kokkos::deep_copy(exec, Kokkos::subview(to, range), Kokkos::subview(from, range));
    }
  }

  std::shared_ptr<Matrix const> matrix_;
  std::optional<Exec> comm_exec_;  ///< on the stream of the messages, for the ends of products
  mutable Memory packed_, sent_;
  mutable HostMemory host_packed_, host_sent_;
  mutable std::int64_t columns_ = 0;
};

}  // namespace blockspan::distributed
