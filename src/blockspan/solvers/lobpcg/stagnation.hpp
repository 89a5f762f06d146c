#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace blockspan::eigen {

/// Watches the worst wanted error. A solve is idle when it has not fallen below 0.9 of its best for
/// `window` iterations. What to do then depends on how often that happened since the error was last
/// halved: the first time a restart, unless Ritz values still move, as on very stiff problems,
/// where a restart only throws the momentum of P away; from the second time on a wider block, since
/// guards speed up what restarts do not. After `patience` times without a halved error or a lower
/// Ritz value it is hopeless.
template <class Real>
class Stagnation {
 public:
  explicit Stagnation(int window) : window_(window) {}

  /// True if the solve is idle. theta: the wanted Ritz values.
  bool idle(int iteration, Real worst, std::vector<Real> const& theta) {
    lowest_ = std::min(lowest_, worst);
    if (worst < Real(0.9) * best_) {
      best_ = worst;
      since_ = iteration;
      anchor_ = theta;
    }
    return iteration - since_ >= window_;
  }

  /// Records an idle window; `noise` is what rounding may do to a Ritz value.
  void count(std::vector<Real> const& theta, Real noise) {
    if (lowest_ < Real(0.5) * milestone_) {
      milestone_ = lowest_;
      idle_ = fruitless_ = 0;
    }
    moving_ = false;
    for (std::size_t j = 0; j < std::min(theta.size(), anchor_.size()); ++j) {
      Real const fall = anchor_[j] - theta[j];
      if (fall > noise) fruitless_ = 0;
      if (fall > noise + Real(0.01) * std::abs(theta[j])) moving_ = true;
    }
    ++idle_;
    ++fruitless_;
  }
  bool values_move() const { return moving_; }
  bool wants_a_wider_block() const { return idle_ >= 2; }
  void block_widened() { idle_ = fruitless_ = 0; }
  bool hopeless() const { return fruitless_ > patience; }

  template <class Archive>
  void visit(Archive& archive) {
    archive(since_), archive(idle_), archive(fruitless_), archive(moving_), archive(anchor_);
    archive(best_), archive(lowest_), archive(milestone_);
  }

  /// A new start from the current error.
  void begin_anew(int iteration) {
    best_ = std::numeric_limits<Real>::infinity();
    since_ = iteration;
  }

 private:
  static constexpr int patience = 16;

  int window_;
  int since_ = 0;
  int idle_ = 0, fruitless_ = 0;
  bool moving_ = false;
  std::vector<Real> anchor_;
  Real best_ = std::numeric_limits<Real>::infinity();
  Real lowest_ = std::numeric_limits<Real>::infinity();
  Real milestone_ = std::numeric_limits<Real>::infinity();
};

}  // namespace blockspan::eigen
