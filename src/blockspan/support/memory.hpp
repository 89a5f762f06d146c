#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>

namespace blockspan {

namespace support {

/// What a view asks a memory space for.
struct MemoryRequest {
  std::string label;  ///< of the view: it says what for, and where
  char const* space;
  bool on_cuda_device;  ///< where one can see how much is free
  std::vector<std::size_t> extents;
  std::size_t element_bytes;

  /// Their count; none if no memory can have so many.
  std::optional<std::size_t> bytes() const;

  /// The view that `make` allocates, or an Error.
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

// Views whose memory is a clear error if there is none. All throw Error, and nothing is allocated,
// if the memory space does not serve the request (or nothing could: extents whose product
// overflows), with the label, the number of bytes, the space and, on CUDA devices, the bytes that
// are free. "Out of memory" is said only where that is certain: a device on which a kernel has
// failed allocates nothing either, and then the message is Kokkos'. Functions that say they throw
// Error where memory is short throw this one.

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
