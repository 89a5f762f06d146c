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

  /// Several ranks took part.
  bool any() const { return rows.size() > 1; }
  /// In one line: how many, how balanced, how large the halo.
  std::string in_words() const;
};

template <class Scalar, class Exec>
RanksReport report_of_ranks(DistributedMatrix<Scalar, Exec> const& A) {
  auto const& ranks = A.row_space().communicator();
  auto const& halo = A.halo();
  return {ranks.name(), ranks.gather(A.local_rows()), ranks.gather(A.local_nonzeros()),
          ranks.gather(static_cast<std::int64_t>(halo.rows.size())),
          ranks.gather(static_cast<std::int64_t>(halo.receives.size()))};
}

}  // namespace blockspan::apps
