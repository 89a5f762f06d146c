#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

namespace blockspan::perf {

/// Median milliseconds of `product` between fences: warmed up, then at least 20 runs and 0.2 s (3
/// runs when quick).
template <class Exec>
double median_milliseconds(Exec const& exec, bool quick, std::function<void()> const& product) {
  product();
  exec.fence();
  std::vector<double> times;
  double total = 0;
  while (times.size() < (quick ? 3u : 20u) || (!quick && total < 200.0 && times.size() < 500)) {
    Kokkos::Timer const timer;
    product();
    exec.fence();
    times.push_back(1e3 * timer.seconds());
    total += times.back();
  }
  auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace blockspan::perf
