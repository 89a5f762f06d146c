#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <blockspan/support/rooms.hpp>

namespace blockspan {

/// Long work was asked to end before its result was there (see InterruptionCheck).
class Interrupted : public std::exception {
 public:
  char const* what() const noexcept override { return "interrupted"; }
};

/// While it lives, long work of this thread that has no monitor (generators, setups, dense solves)
/// asks `goes_on` between its steps, which take some tenths of a second at most; false ends the
/// work: what was made so far is freed, and Interrupted comes out of the call. The checks of
/// enclosing scopes are asked first. Not for work that ranks share: they would not end together.
class InterruptionCheck {
 public:
  explicit InterruptionCheck(std::function<bool()> goes_on) : goes_on_(std::move(goes_on)) {
    innermost_ = this;
  }
  InterruptionCheck(InterruptionCheck const&) = delete;
  ~InterruptionCheck() { innermost_ = outer_; }

  /// Between two steps of long work. Throws Interrupted.
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
