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
/// The same of the current CUDA device; 0 where there is none or it does not answer.
std::int64_t free_device_bytes();

/// Bytes still available to views of `Exec`; 0: not known.
template <class Exec>
std::int64_t free_bytes() {
  return runs_on_host_v<Exec> ? free_host_bytes() : free_device_bytes();
}

/// A request of a view for memory of a space.
struct MemoryRequest {
  std::string label;  ///< of the view; the message quotes it
  char const* space;
  bool on_cuda_device;  ///< then the message has the free bytes
  std::vector<std::size_t> extents;
  std::size_t element_bytes;

  /// Bytes in all; none if the count overflows.
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

// Allocation of views that reports what is missing. All throw Error, and nothing is allocated, if
// the memory space refuses the request (or no space could have it: extents whose product
// overflows), with the label, the number of bytes, the space and, on CUDA devices, the bytes that
// are free. The message says "out of memory" only where that is certain: a device on which a kernel
// has failed allocates nothing either, and then the message is Kokkos'. Functions that say they
// throw Error where memory is short throw this one.

/// A view that is not initialized, allocated on the queue of `exec`; in memory that `exec` cannot
/// access, without it.
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

/// A view of zeros, filled on the queue of `exec` and not waited for.
template <class View, class Exec, class... Extents>
View allocate_zeros(Exec const& exec, std::string const& label, Extents... extents) {
  return support::memory_request<View>(label, extents...).serve([&] {
    return View(Kokkos::view_alloc(exec, label), static_cast<std::size_t>(extents)...);
  });
}

/// The view itself where the host can access it, otherwise host memory for a copy of it, not
/// initialized. View: of rank 1 or 2.
template <class View>
typename View::host_mirror_type allocate_mirror(View const& view) {
  return support::memory_request<typename View::host_mirror_type>(view.label(), view.extent(0),
                                                                  view.extent(1))
      .serve([&] { return Kokkos::create_mirror_view(Kokkos::WithoutInitializing, view); });
}

}  // namespace blockspan
