#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Where this module computes: the default of its Kokkos.
using Exec = Kokkos::DefaultExecutionSpace;
inline constexpr bool on_device = !support::runs_on_host_v<Exec>;

/// Whether the component direct was there when the module was built.
#if defined(BLOCKSPAN_HAS_DIRECT)
inline constexpr bool has_factors = true;
#else
inline constexpr bool has_factors = false;
#endif

/// What solves and this build tell of themselves.
using Facts = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

/// A stream of the caller, as a number; hosts: 0.
using Stream = std::uintptr_t;

/// Starts Kokkos on the device, unless it runs. It is never ended: handles may outlive whoever
/// would end it, and the end of the process frees everything.
void start(int device = 0);

/// The device that it was started on.
int device_of_library();

/// The instance that queues on the stream. Throws Error in a process that was forked from one that
/// had a device.
Exec instance_of(Stream stream);

/// The same for work that waits for the stream. Throws Error where that is recorded as a CUDA
/// graph.
Exec instance_to_wait_for(Stream stream);

/// Waits where the caller may touch the results when the call returns: on hosts. On devices whoever
/// uses the same stream comes later.
inline void finish(Exec const& exec) {
  if constexpr (!on_device) exec.fence("Blockspan::python");
}

/// Kokkos::initialize for the device. Throws Error where there is none.
void initialize(Kokkos::InitializationSettings settings, int device);

/// Starting, forking, what this build is, and how exceptions become Python's.
void bind_runtime(nanobind::module_& m);

}  // namespace blockspan::python
