#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/communication/nccl.hpp>
#include <blockspan/support/error.hpp>

#include <cuda_runtime.h>
#include <nccl.h>

namespace blockspan {
namespace {

void check(ncclResult_t code, char const* what) {
  require(code == ncclSuccess, "NCCL", what, ": ", ncclGetErrorString(code));
}
void check(cudaError_t code, char const* what) {
  require(code == cudaSuccess, "CUDA", what, ": ", cudaGetErrorString(code));
}

class NcclTransport final : public DeviceTransport {
 public:
  /// Thread blocks of an exchange, which runs concurrently with a product.
  static constexpr int most_blocks = 8;

  NcclTransport(Communicator const& ranks, ncclUniqueId const& id) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = most_blocks;
    check(ncclCommInitRankConfig(&comm_, ranks.size(), id, ranks.rank(), &config),
          "ncclCommInitRank");
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities of streams");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "a stream");
    check(cudaEventCreateWithFlags(&packed_, cudaEventDisableTiming), "an event");
    check(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "an event");
    rank_ = ranks.rank();
  }
  ~NcclTransport() override {
    if (!Kokkos::is_initialized()) return;  // the device may be gone with it
    cudaStreamSynchronize(stream_);
    ncclCommDestroy(comm_);
    cudaEventDestroy(arrived_);
    cudaEventDestroy(packed_);
    cudaStreamDestroy(stream_);
  }
  NcclTransport(NcclTransport const&) = delete;
  NcclTransport& operator=(NcclTransport const&) = delete;

  std::string name() const override { return "nccl"; }

  void begin(void* stream) override {
    ask_for_errors();
    check(cudaEventRecord(packed_, to_stream(stream)), "an event");
    check(cudaStreamWaitEvent(stream_, packed_), "an event");
  }
  void start(std::vector<Incoming> const& in, std::vector<Outgoing> const& out) override {
    check(ncclGroupStart(), "ncclGroupStart");
    for (auto const& [peer, bytes] : in)
      check(ncclRecv(bytes.data(), bytes.size(), ncclInt8, peer, comm_, stream_), "receive");
    for (auto const& [peer, bytes] : out)
      check(ncclSend(bytes.data(), bytes.size(), ncclInt8, peer, comm_, stream_), "send");
    check(ncclGroupEnd(), "exchange");
  }
  void finish(void* stream) override {
    check(cudaEventRecord(arrived_, stream_), "an event");
    check(cudaStreamWaitEvent(to_stream(stream), arrived_), "an event");
  }
  void* own_stream() override { return stream_; }

  void gather(void* stream, std::byte* all, std::int64_t bytes) override {
    ask_for_errors();
    check(ncclAllGather(all + rank_ * bytes, all, static_cast<std::size_t>(bytes), ncclInt8, comm_,
                        to_stream(stream)),
          "gather");
  }

 private:
  static cudaStream_t to_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

  /// Throws asynchronous errors of earlier calls, for instance of a rank that has ended.
  void ask_for_errors() const {
    ncclResult_t code = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &code), "ncclCommGetAsyncError");
    check(code, "an exchange before this one");
  }

  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t packed_ = nullptr, arrived_ = nullptr;
  int rank_ = 0;
};

using DeviceName = std::array<char, 16>;

/// The rank before this one that has the same device.
std::optional<int> rank_with_same_device(Communicator const& ranks) {
  DeviceName mine{};
  ranks.run_agreed([&] {
    cudaDeviceProp properties{};
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    std::memcpy(mine.data(), properties.uuid.bytes, mine.size());
  });
  auto const all = ranks.gather(mine);
  auto const same = std::find(all.begin(), all.begin() + ranks.rank(), mine);
  if (same == all.begin() + ranks.rank()) return {};
  return static_cast<int>(same - all.begin());
}

}  // namespace

bool each_has_a_device(Communicator const& ranks) {
  return ranks.all(!rank_with_same_device(ranks));
}

Communicator nccl_communicator(Communicator const& ranks) {
  if (ranks.size() == 1) return ranks;
  auto const same = rank_with_same_device(ranks);
  ranks.run_agreed([&] {
    require(!same, "nccl_communicator", "shares its device with rank ", same.value_or(0),
            "; NCCL needs one for each rank");
  });
  ncclUniqueId id{};
  ranks.run_agreed([&] {
    if (ranks.rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  });
  ranks.broadcast(std::span(&id, 1), 0);
  return ranks.with_device(ranks.run_agreed([&]() -> std::shared_ptr<DeviceTransport> {
    return std::make_shared<NcclTransport>(ranks, id);
  }));
}

}  // namespace blockspan
