#pragma once

#include <functional>
#include <vector>

namespace blockspan::apps {

/// Times of one launch, from batches of launches.
struct Timing {
  double median_ms = 0, min_ms = 0, max_ms = 0;  ///< over the batches
  int batches = 0;
  int launches = 0;  ///< in a batch
};

/// Times a launch by the host's clock, the same way on every backend: batches of launches between
/// two fences, long enough (2 ms, or one launch) that the clock and the fence do not count.
class BatchTimer {
 public:
  /// launch: queues the work. fence: waits for all of it. agree: of the time of a batch on this
  /// rank, the one that counts, the same on all ranks; none: this one.
  BatchTimer(std::function<void()> launch, std::function<void()> fence,
             std::function<double(double)> agree = nullptr);

  /// Warms up and finds how many launches make a batch.
  void calibrate();
  /// Times one batch. Batches of several timers may take turns.
  void run_batch();
  /// Of the batches so far; at least one.
  Timing timing() const;

 private:
  /// Milliseconds of `launches` launches between two fences.
  double elapsed(int launches) const;

  std::function<void()> launch_;
  std::function<void()> fence_;
  std::function<double(double)> agree_;
  int launches_ = 1;
  std::vector<double> times_;  ///< ms a launch
};

}  // namespace blockspan::apps
