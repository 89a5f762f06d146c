#pragma once

#include "common/run/application.hpp"

namespace blockspan::apps {

/// What a program says where it is interrupted and has nothing yet, and its exit status.
struct NothingYet {
  char const* words = "interrupted before the first iteration: nothing has been found";
  ExitStatus status = incomplete;
};

/// While one lives, the first of each signal by which users and batch systems end a run (SIGINT,
/// SIGTERM, SIGHUP, SIGXCPU) only sets a flag, so that a solver can stop in good order and the
/// report still be written; a second one of the same kind ends the process as usual. Where nobody
/// asks for the flag within three seconds, and nobody has before, there is nothing to keep yet (a
/// matrix is read, a preconditioner made): one line on stderr, and the process ends. SIGHUP stays
/// ignored where it is (nohup).
class InterruptGuard {
 public:
  explicit InterruptGuard(NothingYet const& nothing_yet = {});
  ~InterruptGuard();
  InterruptGuard(InterruptGuard const&) = delete;
  InterruptGuard& operator=(InterruptGuard const&) = delete;

  /// Whether an interrupt has come. For work that can stop in good order.
  static bool interrupted();
  /// There is something to keep from now on, however long the rest takes.
  static void work_has_begun();
};

}  // namespace blockspan::apps
