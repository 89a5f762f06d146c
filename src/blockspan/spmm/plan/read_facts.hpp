#pragma once

#include <map>
#include <mutex>
#include <type_traits>

#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::products {

#ifdef KOKKOS_ENABLE_CUDA
/// Devices that are this many times slower in double than in single precision have tensor cores for
/// doubles in name only.
inline constexpr double slow_doubles = 4;

/// `facts` with the values that CUDA reports of a device; those that it does not report stay.
inline DeviceFacts with_values_of(int device, DeviceFacts facts) {
  auto const read = [&](cudaDeviceAttr attribute, auto& fact, double unit) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess || value <= 0) return;
    fact = static_cast<std::remove_reference_t<decltype(fact)>>(value * unit);
  };
  double memory_clock = 0, bus = 0, single_over_double = 0;
  read(cudaDevAttrMultiProcessorCount, facts.multiprocessors, 1);
  read(cudaDevAttrClockRate, facts.clock, 1e-3);         // kHz
  read(cudaDevAttrMemoryClockRate, memory_clock, 1e-3);  // kHz
  read(cudaDevAttrGlobalMemoryBusWidth, bus, 1. / 8);    // bits
  read(cudaDevAttrL2CacheSize, facts.cache, 1);
  read(cudaDevAttrMaxSharedMemoryPerBlockOptin, facts.scratch, 1);
  read(cudaDevAttrSingleToDoublePrecisionPerfRatio, single_over_double, 1);
  if (memory_clock * bus > 0) facts.dram = 2 * memory_clock * bus;  // two transfers a cycle
  if (single_over_double > slow_doubles) facts.double_tensor_cores = false;
  return facts;
}
#endif

#ifdef KOKKOS_ENABLE_HIP
/// The same with what HIP reports.
inline DeviceFacts with_values_of(hipDeviceProp_t const& device, DeviceFacts facts) {
  auto const read = [](auto value, auto& fact, double unit) {
    if (value > 0) fact = static_cast<std::remove_reference_t<decltype(fact)>>(value * unit);
  };
  read(device.multiProcessorCount, facts.multiprocessors, 1);
  read(device.clockRate, facts.clock, 1e-3);  // kHz
  double const bytes_of_cycle = device.memoryBusWidth / 8.;
  read(2 * bytes_of_cycle * device.memoryClockRate, facts.dram, 1e-3);  // two transfers a cycle
  read(device.l2CacheSize, facts.cache, 1);
  read(device.sharedMemPerBlock, facts.scratch, 1);
  return facts;
}
#endif

/// The facts of the device of an instance; each device is queried once.
template <class Exec>
DeviceFacts const& device_facts([[maybe_unused]] Exec const& exec) {
  [[maybe_unused]] auto const kept = [](int device, auto const& asked) -> DeviceFacts const& {
    static std::mutex reading;
    static std::map<int, DeviceFacts> known;
    std::lock_guard const lock(reading);
    auto const found = known.find(device);
    if (found != known.end()) return found->second;
    return known.emplace(device, with_values_of(asked, device_facts_v<Exec>)).first->second;
  };
  if constexpr (requires { exec.cuda_device(); })
    return kept(exec.cuda_device(), exec.cuda_device());
  else if constexpr (requires { exec.hip_device_prop(); })
    return kept(exec.hip_device(), exec.hip_device_prop());
  else
    return device_facts_v<Exec>;
}

}  // namespace blockspan::products
