#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/support/backend.hpp>

#include "common/machine/dispatch.hpp"

namespace blockspan::apps {

/// The ranks of a run: those that a launcher (mpirun) has started, in a build with the component
/// mpi; else this process alone. Other ranks than the first print nothing on stdout.
class Ranks {
 public:
  /// Throws Error where a launcher has started several of a program without MPI.
  Ranks(int& argc, char**& argv);
  ~Ranks();
  Ranks(Ranks const&) = delete;
  Ranks& operator=(Ranks const&) = delete;

  Communicator const& world() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The ranks, whose devices exchange by NCCL where this program is linked with it and each has a
/// device of its own.
Communicator with_device_transport(Communicator const& ranks);

/// The ranks of a solve where Exec computes. All of them together.
template <class Exec>
Communicator ranks_of(Exec const&, Communicator const& ranks) {
  if constexpr (blockspan::support::on_cuda_v<Exec>)
    if (ranks.size() > 1) return with_device_transport(ranks);
  return ranks;
}

/// What the report says of them. Lists: one a rank.
struct RanksReport {
  std::string transport, partition;
  std::vector<std::string> devices;
  std::vector<std::int64_t> rows, nonzeros, halo_rows, neighbours;
  std::vector<std::int64_t> sent_bytes, received_bytes;  ///< of one product of the block

  /// Several ranks took part.
  bool any() const { return rows.size() > 1; }
  /// The largest of a list over its mean; 1 where there is nothing.
  static double imbalance(std::vector<std::int64_t> const& counts);
  /// In one line: how many, how balanced, how large the halo.
  std::string in_words() const;
};

/// The device of each rank in words, with its number on the node.
template <class Exec>
std::vector<std::string> devices_of(Exec const& exec, Communicator const& ranks) {
  std::string words = in_words(describe(exec));
  if constexpr (requires { exec.cuda_device(); })
    words.append(" ").append(std::to_string(exec.cuda_device()));
  std::array<char, 80> mine{};
  std::copy_n(words.begin(), std::min(words.size(), mine.size() - 1), mine.begin());
  std::vector<std::string> devices;
  for (auto const& device : ranks.gather(mine)) devices.emplace_back(device.data());
  return devices;
}

/// columns: of the block. partition: as asked for.
template <class Scalar, class Exec>
RanksReport report_of_ranks(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A, int columns,
                            std::string const& partition) {
  Communicator const ranks = A.row_space().communicator();
  auto const& halo = A.halo();
  auto const row_bytes = static_cast<std::int64_t>(sizeof(Scalar)) * columns;
  auto const sent = static_cast<std::int64_t>(halo.sent.size()),
             received = static_cast<std::int64_t>(halo.rows.size());
  return {ranks.name(),
          partition,
          devices_of(exec, ranks),
          ranks.gather(A.local_rows()),
          ranks.gather(A.local_nonzeros()),
          ranks.gather(received),
          ranks.gather(static_cast<std::int64_t>(halo.receives.size())),
          ranks.gather(sent * row_bytes),
          ranks.gather(received * row_bytes)};
}

}  // namespace blockspan::apps
