#include "blockspan-spmm/timing.hpp"

#include <algorithm>
#include <utility>

#include <Kokkos_Timer.hpp>

namespace blockspan::apps {

namespace {

constexpr double batch_ms = 2;
constexpr int most_launches = 1 << 14;  ///< ends the search where a launch has nothing to do

}  // namespace

BatchTimer::BatchTimer(std::function<void()> launch, std::function<void()> fence,
                       std::function<double(double)> agree)
    : launch_(std::move(launch)), fence_(std::move(fence)), agree_(std::move(agree)) {}

void BatchTimer::calibrate() {
  elapsed(1);
  while (elapsed(launches_) < batch_ms && launches_ < most_launches) launches_ *= 2;
}

void BatchTimer::run_batch() { times_.push_back(elapsed(launches_) / launches_); }

Timing BatchTimer::timing() const {
  std::vector<double> sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  std::size_t const half = sorted.size() / 2;
  double const median =
      sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return {median, sorted.front(), sorted.back(), static_cast<int>(sorted.size()), launches_};
}

double BatchTimer::elapsed(int launches) const {
  fence_();
  Kokkos::Timer const timer;
  for (int i = 0; i < launches; ++i) launch_();
  fence_();
  double const ms = 1e3 * timer.seconds();
  return agree_ ? agree_(ms) : ms;
}

}  // namespace blockspan::apps
