#include "spmm/stopwatch.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/support/error.hpp>

namespace blockspan::perf {

namespace {

constexpr int most_products = 1 << 12;  ///< ends the search where a product has nothing to do

#ifdef KOKKOS_ENABLE_CUDA

void check(cudaError_t status, char const* call) {
  require(status == cudaSuccess, call, cudaGetErrorString(status));
}

class EventStopwatch final : public Stopwatch {
 public:
  explicit EventStopwatch(Kokkos::Cuda const& exec) : exec_(exec) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~EventStopwatch() override {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventStopwatch(EventStopwatch const&) = delete;
  EventStopwatch& operator=(EventStopwatch const&) = delete;

  void start() override { check(cudaEventRecord(begin_, exec_.cuda_stream()), "cudaEventRecord"); }

  double stop() override {
    check(cudaEventRecord(end_, exec_.cuda_stream()), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return milliseconds;
  }

 private:
  Kokkos::Cuda exec_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

constexpr bool by_events = std::is_same_v<Exec, Kokkos::Cuda>;

#else

constexpr bool by_events = false;

#endif

class HostStopwatch final : public Stopwatch {
 public:
  explicit HostStopwatch(Exec const& exec) : exec_(exec) {}

  void start() override {
    exec_.fence("Blockspan::perf::start");
    timer_.reset();
  }
  double stop() override {
    exec_.fence("Blockspan::perf::stop");
    return 1e3 * timer_.seconds();
  }

 private:
  Exec exec_;
  Kokkos::Timer timer_;
};

/// Milliseconds of a batch.
double elapsed(Stopwatch& stopwatch, std::function<void()> const& product, int products,
               TimingRules const& rules) {
  if (rules.flush) rules.flush();
  stopwatch.start();
  for (int i = 0; i < products; ++i) product();
  return stopwatch.stop();
}

/// The value below which a share of the sorted times lies.
double quantile(std::vector<double> const& sorted, double share) {
  double const place = share * static_cast<double>(sorted.size() - 1);
  auto const below = static_cast<std::size_t>(place);
  std::size_t const above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::unique_ptr<Stopwatch> make_stopwatch(Exec const& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (by_events) return std::make_unique<EventStopwatch>(exec);
#endif
  return std::make_unique<HostStopwatch>(exec);
}

char const* stopwatch_method() {
  return by_events ? "CUDA events on the instance's stream" : "host clock between fences";
}

Times summarize(std::vector<double> times, int products) {
  std::sort(times.begin(), times.end());
  double const sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {.median = quantile(times, 0.5),
          .min = times.front(),
          .max = times.back(),
          .mean = sum / static_cast<double>(times.size()),
          .spread = quantile(times, 0.75) - quantile(times, 0.25),
          .batches = static_cast<int>(times.size()),
          .products = products};
}

Batches time_product(Stopwatch& stopwatch, std::function<void()> const& product,
                     TimingRules const& rules) {
  int const most = rules.flush ? 1 : most_products;
  int products = 1;
  double last = elapsed(stopwatch, product, products, rules);
  double total = last;
  while (total < rules.warm_up_ms || (last < rules.batch_ms && products < most)) {
    if (last < rules.batch_ms && products < most) products *= 2;
    last = elapsed(stopwatch, product, products, rules);
    total += last;
  }
  std::vector<double> times{last / products};
  total = last;
  auto const more = [&] {
    auto const count = static_cast<int>(times.size());
    if (count < rules.fewest_batches) return true;
    if (count >= rules.most_batches || total >= rules.longest_ms) return false;
    return count < rules.least_batches || total < rules.budget_ms;
  };
  while (more()) {
    last = elapsed(stopwatch, product, products, rules);
    total += last;
    times.push_back(last / products);
  }
  return {std::move(times), products};
}

}  // namespace blockspan::perf
