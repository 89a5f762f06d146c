#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <blockspan/communication/mpi.hpp>
#include <blockspan/communication/mpi/watchdog.hpp>
#include <blockspan/support/error.hpp>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // of Open MPI
#endif

namespace blockspan {
namespace {

void check(int code, char const* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(code, words.data(), &length);
  fail("MPI", what, ": ", std::string(words.data(), static_cast<std::size_t>(length)));
}

/// MPI counts are int.
int count_of(std::int64_t bytes, char const* what) {
  require(bytes <= std::numeric_limits<int>::max(), "MPI", what, " of ", bytes,
          " bytes, more than MPI can count");
  return static_cast<int>(bytes);
}

/// Whether MPI accepts device memory, as the environment or else MPI itself reports.
bool is_gpu_aware() {
  if (char const* const said = std::getenv("BLOCKSPAN_GPU_AWARE_MPI")) {
    std::string_view const word(said);
    require(word == "0" || word == "1", "BLOCKSPAN_GPU_AWARE_MPI", "\"", word,
            "\" is neither 0 nor 1");
    return word == "1";
  }
  int aware = 0;
#if defined(MPIX_GPU_SUPPORT_CUDA)
  if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &aware) != MPI_SUCCESS) aware = 0;
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  aware = MPIX_Query_cuda_support();
#endif
  return aware == 1;
}

class MpiExchange final : public PendingExchange {
 public:
  static constexpr std::size_t most = std::size_t{1} << 30;  ///< bytes of a segment

  MpiExchange(MPI_Comm comm, communication::Watchdog& watchdog, std::vector<Incoming> const& in,
              std::vector<Outgoing> const& out)
      : watchdog_(watchdog) {
    for (auto const& message : in) peers_.push_back(message.rank);
    for (auto const& message : out) peers_.push_back(message.rank);
    for (auto const& [rank, bytes] : in)
      in_segments(bytes, [&, peer = rank](std::span<std::byte> segment) {
        check(MPI_Irecv(segment.data(), static_cast<int>(segment.size()), MPI_BYTE, peer, tag, comm,
                        &requests_.emplace_back()),
              "receive");
      });
    for (auto const& [rank, bytes] : out)
      in_segments(bytes, [&, peer = rank](std::span<std::byte const> segment) {
        check(MPI_Isend(segment.data(), static_cast<int>(segment.size()), MPI_BYTE, peer, tag, comm,
                        &requests_.emplace_back()),
              "send");
      });
  }

  void finish() override {
    auto const peers = [&] {
      std::string words = "an exchange with";
      for (int const peer : std::set(peers_.begin(), peers_.end()))
        words.append(" ").append(std::to_string(peer));
      return words;
    };
    communication::Watchdog::Wait const wait(watchdog_, peers);
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "exchange");
    requests_.clear();
  }

 private:
  static constexpr int tag = 1;

  template <class Bytes, class Take>
  static void in_segments(Bytes const& bytes, Take const& take) {
    for (std::size_t first = 0; first < bytes.size(); first += most)
      take(bytes.subspan(first, std::min(most, bytes.size() - first)));
  }

  communication::Watchdog& watchdog_;
  std::vector<int> peers_;  ///< of each request; a rank may appear several times
  std::vector<MPI_Request> requests_;
};

/// What MPI would answer by ending the program: its calls before MPI_Init and after MPI_Finalize,
/// and those with no communicator, which go to the default error handler.
void require_usable(MPI_Comm comm) {
  constexpr auto where = "mpi_communicator";
  int initialized = 0, finalized = 0, between_groups = 0;
  MPI_Initialized(&initialized);
  require(initialized != 0, where, "MPI is not initialized");
  MPI_Finalized(&finalized);
  require(finalized == 0, where, "MPI is finalized");
  require(comm != MPI_COMM_NULL, where, "MPI_COMM_NULL: this process has no part in it");
  check(MPI_Comm_test_inter(comm, &between_groups), "MPI_Comm_test_inter");
  require(between_groups == 0, where,
          "an intercommunicator, whose messages go to another group; give an intracommunicator");
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm comm) {
    require_usable(comm);
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    watchdog_ = std::make_unique<communication::Watchdog>(rank_, size_);
    gpu_aware_ = is_gpu_aware();
  }
  ~MpiTransport() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name() const override { return gpu_aware_ ? "GPU-aware mpi" : "mpi"; }
  bool takes_device_memory() const override { return gpu_aware_; }
  MPI_Comm comm() const { return comm_; }

  void gather(std::span<std::byte const> mine, std::span<std::byte> all,
              std::span<std::int64_t const> sizes) override {
    counts_.clear(), places_.clear();
    std::int64_t place = 0;
    for (std::int64_t const size : sizes) {
      places_.push_back(count_of(place, "a gather"));
      counts_.push_back(count_of(size, "a gather"));
      place += size;
    }
    bool const equal_sizes =
        std::all_of(sizes.begin(), sizes.end(), [&](auto s) { return s == sizes[0]; });
    communication::Watchdog::Wait const wait(*watchdog_, all_ranks);
    int const code =
        equal_sizes
            ? MPI_Allgather(mine.data(), counts_[0], MPI_BYTE, all.data(), counts_[0], MPI_BYTE,
                            comm_)
            : MPI_Allgatherv(mine.data(), counts_[static_cast<std::size_t>(rank_)], MPI_BYTE,
                             all.data(), counts_.data(), places_.data(), MPI_BYTE, comm_);
    check(code, "MPI_Allgather");
  }

  void transpose(std::span<std::int64_t const> to, std::span<std::int64_t> from) override {
    communication::Watchdog::Wait const wait(*watchdog_, all_ranks);
    check(MPI_Alltoall(to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm_),
          "MPI_Alltoall");
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    auto const sender = [&] {
      return std::string("a broadcast of rank ").append(std::to_string(root));
    };
    communication::Watchdog::Wait const wait(*watchdog_, sender);
    for (std::size_t first = 0; first < bytes.size(); first += MpiExchange::most) {
      auto const segment = bytes.subspan(first, std::min(MpiExchange::most, bytes.size() - first));
      check(MPI_Bcast(segment.data(), static_cast<int>(segment.size()), MPI_BYTE, root, comm_),
            "MPI_Bcast");
    }
  }

  std::unique_ptr<PendingExchange> start(std::vector<Incoming> const& in,
                                         std::vector<Outgoing> const& out) override {
    return std::make_unique<MpiExchange>(comm_, *watchdog_, in, out);
  }

  [[noreturn]] void abort(int exit_status) override {
    MPI_Abort(comm_, exit_status);
    std::_Exit(exit_status);
  }

 private:
  static constexpr auto all_ranks = [] {
    return std::string("all ranks; those that say nothing are late");
  };

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<communication::Watchdog> watchdog_;
  int rank_ = 0, size_ = 1;
  bool gpu_aware_ = false;
  std::vector<int> counts_, places_;
};

/// Launchers set the number of processes in the environment.
bool launched() {
  for (char const* name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALNRANKS"})
    if (std::getenv(name)) return true;
  return false;
}

}  // namespace

Communicator mpi_communicator(MPI_Comm comm) {
  return Communicator(std::make_shared<MpiTransport>(comm));
}

MPI_Comm mpi_comm_of(Communicator const& ranks) {
  auto const* const transport = dynamic_cast<MpiTransport const*>(ranks.transport());
  require(transport != nullptr, "mpi_comm_of", "these ranks are not those of mpi_communicator");
  return transport->comm();
}

MpiScope::MpiScope(int& argc, char**& argv) {
  if (!launched()) return;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    int provided = 0;
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    owns_ = true;
  }
  world_ = mpi_communicator(MPI_COMM_WORLD);
}

MpiScope::~MpiScope() {
  world_ = {};
  if (owns_) MPI_Finalize();
}

}  // namespace blockspan
