#pragma once

#include <functional>
#include <memory>
#include <vector>

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

/// Milliseconds of a product over batches.
struct Times {
  double median = 0, min = 0, max = 0, mean = 0;
  double spread = 0;  ///< between the quartiles
  int batches = 0;
  int products = 0;  ///< in a batch
};

/// times: milliseconds a product, one of each batch; at least one. products: in a batch.
Times summarize(std::vector<double> times, int products);

/// How long a kernel is timed in a round: in batches of products, each long enough that the ends of
/// the measurement do not count.
struct TimingRules {
  int rounds = 3;         ///< of the contenders of a case, so that a disturbance meets few batches
  double batch_ms = 0.1;  ///< of a batch, at least (or one product)
  double warm_up_ms = 2;  ///< before the first batch: the device's clocks rise, caches fill
  double budget_ms = 8;   ///< of all batches together, about, beyond the least
  double longest_ms = 170;  ///< ends even those that are still too few
  int least_batches = 7;
  int most_batches = 13;
  int fewest_batches = 1;  ///< whatever they take
  /// Queues the work that empties the caches, before each product, which is then a batch of its
  /// own; null: products follow each other.
  std::function<void()> flush = nullptr;
};

/// What a round measured.
struct Batches {
  std::vector<double> ms;  ///< a product, one of each batch
  int products = 0;        ///< in a batch
};

/// One round. The product must have run before.
Batches time_product(Stopwatch& stopwatch, std::function<void()> const& product,
                     TimingRules const& rules);

}  // namespace blockspan::perf
