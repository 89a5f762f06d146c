#pragma once

#include <chrono>
#include <utility>

namespace blockspan::apps {

/// A stopwatch that starts anew at every look.
class Lap {
 public:
  /// Seconds since the last call, or since it was made.
  double operator()() {
    auto const now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace blockspan::apps
