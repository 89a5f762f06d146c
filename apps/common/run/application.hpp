#pragma once

#include <functional>
#include <string>

#include <blockspan/communication/communicator.hpp>

namespace blockspan::apps {

/// Exit statuses of every app.
enum ExitStatus : int {
  success = 0,     ///< everything asked for was reached
  incomplete = 1,  ///< it ran, but not everything converged; the report says what
  bad_input = 2,   ///< wrong input or usage, or a machine that cannot run it: one line on stderr
};

/// Runs `body` and returns its exit status. Whatever it throws becomes one line on stderr,
/// "name: what is wrong", and the status bad_input; so does a standard output that cannot be
/// written. Writing to a pipe that nobody reads, or beyond a limit, is an error and no signal.
int run_application(std::string const& name, std::function<int()> const& body) noexcept;

/// The same with the ranks that a launcher has started, which must all be given the same words:
/// else no body is run. What all of them throw together is said by rank 0 alone; whatever else one
/// throws is said by that one, with its rank, and ends all.
int run_application(std::string const& name, int& argc, char**& argv,
                    std::function<int(Communicator const&)> const& body) noexcept;

/// Kokkos for the duration of an app: started without warnings, stopped at the end of the scope.
class KokkosSession {
 public:
  /// Throws Error if a backend of this build cannot start, as on a machine without a GPU.
  KokkosSession();
  ~KokkosSession();
  KokkosSession(KokkosSession const&) = delete;
  KokkosSession& operator=(KokkosSession const&) = delete;
};

}  // namespace blockspan::apps
