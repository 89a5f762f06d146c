#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// The execution space of this module: the default of its Kokkos.
using Exec = Kokkos::DefaultExecutionSpace;
inline constexpr bool on_device = !support::runs_on_host_v<Exec>;

/// Whether the module was built with the component direct.
#if defined(BLOCKSPAN_HAS_DIRECT)
inline constexpr bool has_factors = true;
#else
inline constexpr bool has_factors = false;
#endif

/// The results of solves and the facts of this build, by name.
using Facts = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

/// The handle of the caller's stream as an integer; 0 on hosts.
using Stream = std::uintptr_t;

/// Initializes Kokkos on the device unless it is running. Never finalized: handles may outlive any
/// owner, and the process exit frees everything.
void start(int device = 0);

/// The device on which Kokkos was initialized.
int device_of_library();

/// The execution space instance of the stream. Throws Error in a process forked from one that used
/// a device.
Exec instance_of(Stream stream);

/// The same for work that waits for the stream. Throws Error if the stream is being captured into a
/// CUDA graph.
Exec instance_to_wait_for(Stream stream);

/// On hosts waits, since callers read the results on return. On devices returns at once: later work
/// on the same stream is ordered.
inline void finish(Exec const& exec) {
  if constexpr (!on_device) exec.fence("Blockspan::python");
}

/// Kokkos::initialize for the device. Throws Error if there is none.
void initialize(Kokkos::InitializationSettings settings, int device);

/// Binds initialization, fork handlers, build facts and the translation of exceptions.
void bind_runtime(nanobind::module_& m);

}  // namespace blockspan::python
