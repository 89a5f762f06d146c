#pragma once

namespace blockspan::apps {

/// While one lives, the first SIGINT only sets a flag, so that a solver can stop in good order and
/// the report still be written; the second ends the process as usual.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(InterruptGuard const&) = delete;
  InterruptGuard& operator=(InterruptGuard const&) = delete;

  /// Whether an interrupt has come.
  static bool interrupted();
};

}  // namespace blockspan::apps
