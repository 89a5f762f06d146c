#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

namespace blockspan::test {

/// What Kokkos itself sees of a call: kernels, their labels and instances, allocations, waits.
struct Observation {
  std::vector<std::string> labels, allocations, fences;
  std::set<std::uint32_t> devices;
};

namespace observing {
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
/// Kokkos itself fences around kernels as soon as a tool listens; its Threads backend does before
/// any kernel.
inline void note_fence(char const* label, std::uint32_t, std::uint64_t*) {
  std::string const text(label);
  if (text.find("Kokkos Profile Tool Fence") == std::string::npos &&
      text.find("Kokkos::ThreadsInternal::fence") == std::string::npos)
    seen.fences.emplace_back(text);
}
}  // namespace observing

/// What the call in observed() has done so far.
inline Observation const& observed_so_far() { return observing::seen; }

/// What Kokkos reports while `call` runs. Other tools of the process are set aside.
inline Observation observed(std::function<void()> const& call) {
  namespace tools = Kokkos::Tools::Experimental;
  observing::seen = {};
  auto const callbacks = tools::get_callbacks();
  tools::pause_tools();
  tools::set_begin_parallel_for_callback(observing::note_kernel);
  tools::set_begin_parallel_reduce_callback(observing::note_kernel);
  tools::set_begin_parallel_scan_callback(observing::note_kernel);
  tools::set_allocate_data_callback(observing::note_allocation);
  tools::set_begin_fence_callback(observing::note_fence);
  call();
  tools::set_callbacks(callbacks);
  return observing::seen;
}

/// Runs `call` while no tool of the process listens.
inline void unobserved(std::function<void()> const& call) {
  namespace tools = Kokkos::Tools::Experimental;
  auto const callbacks = tools::get_callbacks();
  tools::pause_tools();
  call();
  tools::set_callbacks(callbacks);
}

}  // namespace blockspan::test
