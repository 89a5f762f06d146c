#pragma once

#include <algorithm>
#include <limits>

namespace blockspan::detail {

/// Watches the worst wanted error: idle when it has not fallen below 0.9 of its best for `window`
/// iterations. After two restarts that did not halve it, a wider block is the remedy (guards speed
/// up what restarts do not); hopeless after eight restarts with neither a halved error nor lower
/// Ritz values.
template <class Real>
class Stagnation {
 public:
  explicit Stagnation(int window) : window_(window) {}

  /// True if a restart is due.
  bool idle(int iteration, Real worst) {
    lowest_ = std::min(lowest_, worst);
    if (worst < Real(0.9) * best_) {
      best_ = worst;
      since_ = iteration;
    }
    return iteration - since_ >= window_;
  }

  /// After a restart, a verification or a probe: a new start from the current error. Only restarts
  /// count towards hopelessness.
  void begin_anew(int iteration) {
    best_ = std::numeric_limits<Real>::infinity();
    since_ = iteration;
  }
  /// `values` is the sum of the wanted Ritz values, which a solve that gets anywhere lowers by more
  /// than `noise`.
  void count_restart(Real values, Real noise) {
    if (lowest_ < Real(0.5) * milestone_) {
      milestone_ = lowest_;
      idle_ = fruitless_ = 0;
    }
    if (values < lowest_values_ - noise) fruitless_ = 0;
    lowest_values_ = std::min(lowest_values_, values);
    ++idle_;
    ++fruitless_;
  }
  bool wants_a_wider_block() const { return idle_ >= 2; }
  void block_widened() { idle_ = fruitless_ = 0; }
  bool hopeless() const { return fruitless_ > 8; }

 private:
  int window_;
  int since_ = 0;
  int idle_ = 0, fruitless_ = 0;
  Real best_ = std::numeric_limits<Real>::infinity();
  Real lowest_ = std::numeric_limits<Real>::infinity();
  Real milestone_ = std::numeric_limits<Real>::infinity();
  Real lowest_values_ = std::numeric_limits<Real>::infinity();
};

}  // namespace blockspan::detail
