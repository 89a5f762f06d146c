#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>

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

/// What the report says of them. Lists: one a rank.
struct RanksReport {
  std::string transport;
  std::vector<std::int64_t> rows, nonzeros, halo_rows, neighbours;
  std::vector<std::int64_t> sent_bytes, received_bytes;  ///< of one product of the block

  /// Several ranks took part.
  bool any() const { return rows.size() > 1; }
  /// The largest of a list over its mean; 1 where there is nothing.
  static double imbalance(std::vector<std::int64_t> const& counts);
  /// In one line: how many, how balanced, how large the halo.
  std::string in_words() const;
};

/// columns: of the block.
template <class Scalar, class Exec>
RanksReport report_of_ranks(DistributedMatrix<Scalar, Exec> const& A, int columns) {
  auto const& ranks = A.row_space().communicator();
  auto const& halo = A.halo();
  auto const row_bytes = static_cast<std::int64_t>(sizeof(Scalar)) * columns;
  auto const sent = static_cast<std::int64_t>(halo.sent.size()),
             received = static_cast<std::int64_t>(halo.rows.size());
  return {ranks.name(),
          ranks.gather(A.local_rows()),
          ranks.gather(A.local_nonzeros()),
          ranks.gather(received),
          ranks.gather(static_cast<std::int64_t>(halo.receives.size())),
          ranks.gather(sent * row_bytes),
          ranks.gather(received * row_bytes)};
}

}  // namespace blockspan::apps
