#include "spmm/stopwatch.hpp"

#include <algorithm>
#include <string>
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

double elapsed(Stopwatch& stopwatch, std::function<void()> const& product, int products) {
  stopwatch.start();
  for (int i = 0; i < products; ++i) product();
  return stopwatch.stop();
}

apps::Timing summary(std::vector<double> times, int products) {
  std::sort(times.begin(), times.end());
  std::size_t const half = times.size() / 2;
  double const median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  return {median, times.front(), times.back(), static_cast<int>(times.size()), products};
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

apps::Timing time_product(Stopwatch& stopwatch, std::function<void()> const& product,
                          TimingRules const& rules) {
  int products = 1;
  double last = elapsed(stopwatch, product, products);
  double total = last;
  while (total < rules.warm_up_ms || (last < rules.batch_ms && products < most_products)) {
    if (last < rules.batch_ms && products < most_products) products *= 2;
    last = elapsed(stopwatch, product, products);
    total += last;
  }
  std::vector<double> times{last / products};
  total = last;
  auto const count = [&] { return static_cast<int>(times.size()); };
  while (
      count() < rules.most_batches &&
      (total < rules.budget_ms || (count() < rules.least_batches && total < 4 * rules.budget_ms))) {
    last = elapsed(stopwatch, product, products);
    total += last;
    times.push_back(last / products);
  }
  return summary(std::move(times), products);
}

}  // namespace blockspan::perf
