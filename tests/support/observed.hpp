#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

namespace blockspan::test {

/// What Kokkos itself sees of a call: kernels, their labels and instances, allocations.
struct Observation {
  std::vector<std::string> labels, allocations;
  std::set<std::uint32_t> devices;
};

namespace detail {
inline Observation seen;

inline void note_kernel(char const* label, std::uint32_t device, std::uint64_t*) {
  seen.labels.emplace_back(label);
  seen.devices.insert(device);
}
/// Kokkos reports its team scratch on CUDA as an allocation of no bytes at every launch.
inline void note_allocation(Kokkos_Profiling_SpaceHandle, char const* label, void const*,
                            std::uint64_t bytes) {
  if (bytes > 0) seen.allocations.emplace_back(label);
}
}  // namespace detail

/// What Kokkos reports while `call` runs. Other tools of the process are set aside.
inline Observation observed(std::function<void()> const& call) {
  namespace tools = Kokkos::Tools::Experimental;
  detail::seen = {};
  auto const callbacks = tools::get_callbacks();
  tools::pause_tools();
  tools::set_begin_parallel_for_callback(detail::note_kernel);
  tools::set_begin_parallel_reduce_callback(detail::note_kernel);
  tools::set_begin_parallel_scan_callback(detail::note_kernel);
  tools::set_allocate_data_callback(detail::note_allocation);
  call();
  tools::set_callbacks(callbacks);
  return detail::seen;
}

}  // namespace blockspan::test
