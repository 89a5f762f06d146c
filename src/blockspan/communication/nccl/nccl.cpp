#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/communication/nccl.hpp>
#include <blockspan/support/error.hpp>

#include <cuda_runtime.h>
#include <nccl.h>
#include <sched.h>

namespace blockspan {
namespace {

void check(ncclResult_t code, char const* what) {
  require(code == ncclSuccess, "NCCL", what, ": ", ncclGetErrorString(code));
}
void check(cudaError_t code, char const* what) {
  require(code == cudaSuccess, "CUDA", what, ": ", cudaGetErrorString(code));
}

/// Lets this thread, during the lifetime of the object, run on every processor of its job. NCCL
/// starts threads that inherit this affinity. Where a launcher has bound a rank to one core, they
/// would share it with the thread that waits for them: on two H200 the first exchanges took 0.6 s
/// instead of 0.1.
class OnAnyProcessor {
 public:
  OnAnyProcessor() {
    bound_ = sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof all);
    if (bound_) sched_setaffinity(0, sizeof all, &all);
  }
  ~OnAnyProcessor() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnAnyProcessor(OnAnyProcessor const&) = delete;
  OnAnyProcessor& operator=(OnAnyProcessor const&) = delete;

 private:
  cpu_set_t before_{};
  bool bound_ = false;
};

class NcclTransport final : public DeviceTransport {
 public:
  /// Thread blocks of an exchange, which runs concurrently with a product.
  static constexpr int most_blocks = 8;

  explicit NcclTransport(Communicator const& ranks) : rank_(ranks.rank()), ranks_(ranks.size()) {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities of streams");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "a stream");
    check(cudaEventCreateWithFlags(&packed_, cudaEventDisableTiming), "an event");
    check(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "an event");
    check(cudaMalloc(&first_bytes_, static_cast<std::size_t>(ranks_ + 4) * first_size),
          "cudaMalloc");
    check(cudaGetDevice(&device_), "cudaGetDevice");
  }
  ~NcclTransport() override {
    if (connected_.valid()) connected_.wait();
    if (!Kokkos::is_initialized()) return;  // the device may be gone with it
    cudaStreamSynchronize(stream_);
    if (comm_ != nullptr) ncclCommDestroy(comm_);
    cudaEventDestroy(arrived_);
    cudaEventDestroy(packed_);
    cudaStreamDestroy(stream_);
    cudaFree(first_bytes_);
  }
  NcclTransport(NcclTransport const&) = delete;
  NcclTransport& operator=(NcclTransport const&) = delete;

  /// Starts to create the communicator and to make its first gather and first exchange with
  /// neighbours, which create the connections of later ones: tenths of a second, during which this
  /// thread may read matrices. Called by all ranks, once all have constructed their transports: the
  /// others would wait for a rank that failed.
  void begin_connecting(ncclUniqueId const& id) {
    OnAnyProcessor const unbound;
    connected_ = std::async(std::launch::async, [this, id] { connect(id); });
  }

  std::string name() const override { return "nccl"; }

  void begin(void* stream) override {
    be_connected();
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
    be_connected();
    check(ncclAllGather(all + rank_ * bytes, all, static_cast<std::size_t>(bytes), ncclInt8, comm_,
                        to_stream(stream)),
          "gather");
  }

 private:
  static cudaStream_t to_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

  void connect(ncclUniqueId const& id) {
    check(cudaSetDevice(device_), "cudaSetDevice");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = most_blocks;
    check(ncclCommInitRankConfig(&comm_, ranks_, id, rank_, &config), "ncclCommInitRank");
    auto const part = [&](int p) { return std::span(first_bytes_ + p * first_size, first_size); };
    check(ncclAllGather(part(rank_).data(), first_bytes_, first_size, ncclInt8, comm_, stream_),
          "gather");
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    int next = ranks_;
    for (int const peer : {rank_ - 1, rank_ + 1}) {
      if (peer < 0 || peer >= ranks_) continue;
      in.push_back({peer, part(next++)});
      out.push_back({peer, part(next++)});
    }
    start(in, out);
    check(cudaStreamSynchronize(stream_), "the first exchange");
  }

  /// Throws errors of connecting, and asynchronous ones of earlier calls, for instance where
  /// another rank has ended.
  void be_connected() {
    if (connected_.valid()) connected_.get();
    ncclResult_t code = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &code), "ncclCommGetAsyncError");
    check(code, "an exchange before this one");
  }

  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t packed_ = nullptr, arrived_ = nullptr;
  int rank_, ranks_, device_ = 0;
  static constexpr std::size_t first_size = 64;
  std::byte* first_bytes_ = nullptr;  ///< buffer of the first exchanges
  std::future<void> connected_;
};

using DeviceName = std::array<char, 16>;

/// A lower rank with the same device.
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
  auto const transport = ranks.run_agreed([&] { return std::make_shared<NcclTransport>(ranks); });
  transport->begin_connecting(id);
  return ranks.with_device(transport);
}

}  // namespace blockspan
