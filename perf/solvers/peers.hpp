#pragma once

#include <string>
#include <vector>

#include <blockspan/support/error.hpp>

#include "solvers/problem.hpp"
#include "suite/script.hpp"

namespace blockspan::perf {

/// The peers of peers/solve.py, which says for each whether it can be imported.
std::vector<std::string> peer_names();

/// A peer did not end in its time.
class TookTooLong : public Error {
 public:
  using Error::Error;
};

/// A problem written out for the peers, for as long as this lives: raw numbers in a folder of its
/// own below that of the results, described by request.json (see peers/protocol.py).
class PeerProblem {
 public:
  PeerProblem(SolverProblem const& problem, Scripts const& scripts, int solves);
  ~PeerProblem();
  PeerProblem(PeerProblem const&) = delete;
  PeerProblem& operator=(PeerProblem const&) = delete;

  /// Has it solved by a peer, `seconds` at most, in a process of its own. Throws Error with the
  /// peer's last words where it does not, TookTooLong where it is ended.
  Answer solve(std::string const& peer, double seconds) const;

 private:
  Answer read_answer(std::string const& peer) const;

  SolverProblem const& problem_;
  Scripts const& scripts_;
  std::string folder_;
};

}  // namespace blockspan::perf
