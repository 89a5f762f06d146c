#pragma once

#include <chrono>

namespace blockspan::solvers {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds the wall-clock time of its life to a phase. Without a fence an asynchronous backend charges
/// a phase with the work it waits for, whoever started it.
template <class Exec>
class PhaseTimer {
 public:
  /// `fenced`: what to wait for at the end, or null.
  PhaseTimer(Exec const* fenced, double& seconds) : fenced_(fenced), seconds_(seconds) {}
  PhaseTimer(PhaseTimer const&) = delete;
  PhaseTimer& operator=(PhaseTimer const&) = delete;
  ~PhaseTimer() {
    if (fenced_) fenced_->fence("Blockspan::solvers: phase");
    seconds_ += seconds_since(start_);
  }

 private:
  Exec const* fenced_;
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace blockspan::solvers
