#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <blockspan/support/rooms.hpp>

namespace blockspan {

/// Thrown by work that was requested to stop early (see InterruptionCheck).
class Interrupted : public std::exception {
 public:
  char const* what() const noexcept override { return "interrupted"; }
};

/// While an object of this class lives, long work of this thread that has no monitor (generators,
/// setups, dense solves) calls `goes_on` between its steps, which take some tenths of a second at
/// most; false stops the work: partial results are freed, and the call throws Interrupted. Checks
/// of enclosing scopes are called first. Not for work on several ranks, which would not stop
/// together.
class InterruptionCheck {
 public:
  explicit InterruptionCheck(std::function<bool()> goes_on) : goes_on_(std::move(goes_on)) {
    innermost_ = this;
  }
  InterruptionCheck(InterruptionCheck const&) = delete;
  ~InterruptionCheck() { innermost_ = outer_; }

  /// Called between two steps of long work. Throws Interrupted.
  static void step() {
    if (innermost_ != nullptr && !innermost_->all_go_on()) throw Interrupted();
  }

 private:
  bool all_go_on() const { return (outer_ == nullptr || outer_->all_go_on()) && goes_on_(); }

  inline static thread_local InterruptionCheck* innermost_ = nullptr;

  InterruptionCheck* outer_ = innermost_;
  std::function<bool()> goes_on_;
};

}  // namespace blockspan
