#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>
#include <blockspan/support/rooms.hpp>

namespace blockspan::support {

/// Whether kernels of `Exec` run on the cores of the host: vectorized loops over columns instead of
/// one thread a column.
template <class Exec>
inline constexpr bool runs_on_host_v =
    Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

/// True for Kokkos::Cuda, where the libraries of the CUDA Toolkit can be called; false without that
/// backend.
#ifdef KOKKOS_ENABLE_CUDA
template <class Exec>
inline constexpr bool on_cuda_v = std::is_same_v<Exec, Kokkos::Cuda>;
#else
template <class Exec>
inline constexpr bool on_cuda_v = false;
#endif

/// A work item a row, or an entry: counted in 64 bits.
template <class Exec, class... Tag>
using IndexRange = Kokkos::RangePolicy<Exec, Tag..., Kokkos::IndexType<std::int64_t>>;

/// Threads of a device that execute in lockstep: a warp of CUDA, a wavefront of HIP.
#ifdef KOKKOS_ENABLE_HIP
template <class Exec>
inline constexpr int warp_size_v = std::is_same_v<Exec, Kokkos::HIP> ? 64 : 32;
#else
template <class Exec>
inline constexpr int warp_size_v = 32;
#endif

/// The stream of an instance, for other libraries; null on hosts.
template <class Exec>
void* native_stream([[maybe_unused]] Exec const& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (on_cuda_v<Exec>) return exec.cuda_stream();
#endif
  return nullptr;
}

/// Makes the device of the instance the current one of this thread, as Kokkos does for its own
/// launches: CUDA and its libraries work on the current one, which may be another. Nothing on
/// hosts.
template <class Exec>
void use_device_of([[maybe_unused]] Exec const& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (on_cuda_v<Exec>) {
    cudaError_t const error = cudaSetDevice(exec.cuda_device());
    require(error == cudaSuccess, "blockspan",
            "the device of an instance cannot be used: ", cudaGetErrorString(error));
  }
#endif
}

/// An instance on a stream created by another library; none on hosts.
template <class Exec>
std::optional<Exec> instance_on([[maybe_unused]] void* stream) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (on_cuda_v<Exec>) return Exec(static_cast<cudaStream_t>(stream));
#endif
  return std::nullopt;
}

}  // namespace blockspan::support
