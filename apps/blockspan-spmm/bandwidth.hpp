#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/memory.hpp>

#include "blockspan-spmm/result.hpp"
#include "blockspan-spmm/timing.hpp"

namespace blockspan::apps {

namespace copying {

template <class Exec>
struct Copy {
  Kokkos::View<double const*, Exec> from;
  Kokkos::View<double*, Exec> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(i); }
};

}  // namespace copying

/// What a copy of an array far larger than any cache reaches on this device, by a Kokkos kernel or
/// by deep_copy, bytes read and written together: the fastest of `batches` of the faster one, since
/// a floor is what cannot be undercut. Allocates two arrays (1 GiB each on accelerators, 128 MiB on
/// hosts) and frees them. Fences.
template <class Exec>
CopyBandwidth measure_copy(Exec const& exec, int batches) {
  constexpr bool host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
  constexpr std::int64_t bytes = host ? std::int64_t{1} << 27 : std::int64_t{1} << 30;
  constexpr std::int64_t length = bytes / static_cast<std::int64_t>(sizeof(double));
  using Numbers = Kokkos::View<double*, Exec>;
  auto const from = allocate_zeros<Numbers>(exec, "Blockspan::copy_from", length);
  auto const to = allocate_zeros<Numbers>(exec, "Blockspan::copy_to", length);
  auto const least_ms = [&](auto const& copy) {
    BatchTimer timer(copy, [&] { exec.fence("Blockspan::copy"); });
    timer.calibrate();
    for (int i = 0; i < batches; ++i) timer.run_batch();
    return timer.timing().min_ms;
  };
  double const by_kernel = least_ms([&] {
    Kokkos::parallel_for(
        "Blockspan::copy",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, length),
        copying::Copy<Exec>{from, to});
  });
  // on an H200 the kernel reaches 3.3 TB/s, which a floor must not be computed from
  double const by_driver = least_ms([&] { Kokkos::deep_copy(exec, to, from); });
  double const ms = std::min(by_kernel, by_driver);
  return {2.0 * static_cast<double>(bytes) / ms * 1e3, bytes, batches};
}

}  // namespace blockspan::apps
