#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/communication/communicator.hpp>
#ifdef BLOCKSPAN_HAS_NCCL
#include <blockspan/communication/nccl.hpp>
#endif

#include "distributed/ranks.hpp"

namespace blockspan::test {

/// A transport of devices that goes by MPI, for hosts.
class HostDevices final : public DeviceTransport {
 public:
  explicit HostDevices(Communicator ranks) : ranks_(std::move(ranks)) {}
  std::string name() const override { return "hosts"; }
  void begin(void*) override {}
  void start(std::vector<Incoming> const& in, std::vector<Outgoing> const& out) override {
    pending_ = ranks_.start(in, out);
  }
  void finish(void*) override { pending_->finish(); }
  void* own_stream() override { return nullptr; }
  void gather(void*, std::byte* all, std::int64_t bytes) override {
    auto const count = static_cast<std::size_t>(bytes);
    std::byte const* const mine = all + ranks_.rank() * bytes;
    std::vector<std::byte> const part(mine, mine + count);
    auto const size = static_cast<std::size_t>(ranks_.size());
    ranks_.gather(part, {all, count * size}, std::vector<std::int64_t>(size, bytes));
  }

 private:
  Communicator ranks_;
  std::unique_ptr<PendingExchange> pending_;
};

/// The rows of this rank of a block that is the same for any cuts.
template <class Scalar>
Block<Scalar, Exec> random_rows(Exec const& exec, RowSpace const& space, std::int64_t rows,
                                int columns, std::uint64_t seed) {
  Block<Scalar, Exec> const X("X", static_cast<std::size_t>(rows),
                              static_cast<std::size_t>(columns));
  fill_random(exec, X, seed, 0, space.first_row());
  return X;
}

/// Ranks whose devices have a transport of their own.
template <class Config>
class OnDevices : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  Exec const exec;
  Communicator devices;

  void SetUp() override {
    if constexpr (blockspan::support::runs_on_host_v<Exec>) {
      devices = world().with_device(std::make_shared<HostDevices>(world()));
    } else {
#ifdef BLOCKSPAN_HAS_NCCL
      if (!each_has_a_device(world())) GTEST_SKIP() << "ranks share a device";
      devices = nccl_communicator(world());
#else
      GTEST_SKIP() << "needs Blockspan_ENABLE_NCCL";
#endif
    }
  }

  /// The matrix of a spec, in parts of unlike size, each with rows.
  std::shared_ptr<DistributedMatrix<Value, Exec> const> parts(Communicator const& ranks,
                                                              std::string const& spec) const {
    std::int64_t const rows = parse_generator_spec(spec).rows;
    std::vector<std::int64_t> cuts;
    for (int r = 0; r <= ranks.size(); ++r)
      cuts.push_back(rows * r * (r + 2) / (ranks.size() * (ranks.size() + 2)));
    RowPartition const like(cuts, 0);
    return generate_distributed<Value>(exec, ranks, spec, &like);
  }

  Block<Value, Exec> random(RowSpace const& space, std::int64_t rows, int columns,
                            std::uint64_t seed) const {
    return random_rows<Value>(exec, space, rows, columns, seed);
  }
};

template <class View>
auto on_host(View const& view) {
  return entries(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view));
}

}  // namespace blockspan::test
