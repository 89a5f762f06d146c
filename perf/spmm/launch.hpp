#pragma once

#include <Kokkos_Core.hpp>

#include "blockspan-spmm/timing.hpp"

namespace blockspan::perf {

namespace launching {
struct Nothing {
  KOKKOS_FUNCTION void operator()(int) const {}
};
}  // namespace launching

/// Milliseconds between two kernels that do nothing: what a launch costs at least. Fences.
template <class Exec>
double measure_launch(Exec const& exec) {
  apps::BatchTimer timer(
      [&] {
        Kokkos::parallel_for("Blockspan::perf::launch", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                             launching::Nothing{});
      },
      [&] { exec.fence("Blockspan::perf::launch"); });
  timer.calibrate();
  for (int i = 0; i < 5; ++i) timer.run_batch();
  return timer.timing().median_ms;
}

}  // namespace blockspan::perf
