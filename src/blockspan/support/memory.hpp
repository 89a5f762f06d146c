#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>

namespace blockspan {

namespace support {

/// Bytes of memory still available on this host; 0 where the system does not report them.
std::int64_t free_host_bytes();
/// The same for the current CUDA device; 0 where there is none or the query fails.
std::int64_t free_device_bytes();

/// Bytes still available to views of `Exec`; 0: not known.
template <class Exec>
std::int64_t free_bytes() {
  return runs_on_host_v<Exec> ? free_host_bytes() : free_device_bytes();
}

/// A request of a view for memory of a space.
struct MemoryRequest {
  std::string label;  ///< of the view; quoted in messages
  char const* space;
  bool on_cuda_device;  ///< then messages include the free bytes
  std::vector<std::size_t> extents;
  std::size_t element_bytes;

  /// Bytes in all; none if the product overflows.
  std::optional<std::size_t> bytes() const;

  /// Returns make(), which allocates the view; throws Error if that fails.
  template <class Make>
  auto serve(Make const& make) const {
    if (!bytes()) refuse();
    try {
      return make();
    } catch (std::exception const& reason) {
      refuse(reason);
    }
  }

 private:
  std::string in_words() const;
  [[noreturn]] void refuse() const;
  [[noreturn]] void refuse(std::exception const& reason) const;
};

template <class View, class... Extents>
MemoryRequest memory_request(std::string const& label, Extents... extents) {
  using Space = typename View::memory_space;
  bool const on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;
  return {label,
          Space::name(),
          on_cuda_v<typename View::execution_space> && !on_host,
          {static_cast<std::size_t>(extents)...},
          sizeof(typename View::value_type)};
}

}  // namespace support

// Allocation of views whose errors name the request. All throw Error, and nothing is allocated, if
// the memory space refuses the request (or the product of the extents overflows), with the label,
// the number of bytes, the space and, on CUDA devices, the free bytes. The message says "out of
// memory" only where that is certain: after a failed kernel a device refuses allocations too, and
// then the message is that of Kokkos. Functions documented to throw Error where memory is short
// throw this one.

/// An uninitialized view, allocated on the queue of `exec`, or without the instance in memory that
/// `exec` cannot access.
template <class View, class Exec, class... Extents>
View allocate([[maybe_unused]] Exec const& exec, std::string const& label, Extents... extents) {
  using Access = Kokkos::SpaceAccessibility<Exec, typename View::memory_space>;
  return support::memory_request<View>(label, extents...).serve([&] {
    if constexpr (Access::accessible)
      return View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label),
                  static_cast<std::size_t>(extents)...);
    else
      return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                  static_cast<std::size_t>(extents)...);
  });
}

/// A view of zeros, filled asynchronously on the queue of `exec`.
template <class View, class Exec, class... Extents>
View allocate_zeros(Exec const& exec, std::string const& label, Extents... extents) {
  return support::memory_request<View>(label, extents...).serve([&] {
    return View(Kokkos::view_alloc(exec, label), static_cast<std::size_t>(extents)...);
  });
}

/// The view itself where the host can access it, otherwise uninitialized host memory of the same
/// shape. View: of rank 1 or 2.
template <class View>
typename View::host_mirror_type allocate_mirror(View const& view) {
  return support::memory_request<typename View::host_mirror_type>(view.label(), view.extent(0),
                                                                  view.extent(1))
      .serve([&] { return Kokkos::create_mirror_view(Kokkos::WithoutInitializing, view); });
}

}  // namespace blockspan
