#pragma once

#include <functional>
#include <memory>

#include "blockspan-spmm/timing.hpp"
#include "peers/contender.hpp"

namespace blockspan::perf {

/// Measures the work queued on one instance.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual void start() = 0;
  /// Waits for the work queued since start(); its milliseconds.
  virtual double stop() = 0;
};

/// By events on the instance's stream on CUDA, by the host's clock between fences elsewhere.
std::unique_ptr<Stopwatch> make_stopwatch(Exec const& exec);

/// Which of the two, in words.
char const* stopwatch_method();

/// How long a kernel is timed: in batches of products, each long enough that the ends of the
/// measurement do not count.
struct TimingRules {
  double batch_ms = 0.1;  ///< of a batch, at least (or one product)
  double warm_up_ms = 2;  ///< before the first batch: the device's clocks rise, caches fill
  double budget_ms = 25;  ///< of all batches together, about
  int least_batches = 3;  ///< even beyond the budget, up to four times of it
  int most_batches = 40;
};

/// Median, least and most milliseconds of a product over the batches. It must have run before.
apps::Timing time_product(Stopwatch& stopwatch, std::function<void()> const& product,
                          TimingRules const& rules);

}  // namespace blockspan::perf
