#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// Brings a few numbers of the host to where Exec computes. Keeps its memory between calls.
template <class Real, class Exec>
class DeviceNumbers {
 public:
  /// A copy on the device, valid until the next call; `values` must live until the next fence.
  Real const* operator()(Exec const& exec, std::vector<Real> const& values) {
    std::size_t const count = values.size();
    if (numbers_.extent(0) < count)
      numbers_ = allocate<Numbers>(exec, "Blockspan::solvers::numbers", count);
    Kokkos::View<Real const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
        from(values.data(), count);
    Kokkos::deep_copy(
        exec, Kokkos::subview(numbers_, std::pair<std::size_t, std::size_t>(0, count)), from);
    return numbers_.data();
  }

 private:
  using Numbers = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Numbers numbers_;
};

/// What numbers where Exec computes look like to the host: themselves on hosts; elsewhere
/// page-locked memory of the same size, to which a copy waits for nothing.
template <class Exec, class Real>
using HostMirror =
    Kokkos::View<Real*, std::conditional_t<runs_on_host_v<Exec>, Kokkos::HostSpace,
                                           Kokkos::SharedHostPinnedSpace>>;

template <class Exec, class Numbers>
HostMirror<Exec, typename Numbers::value_type> host_mirror(Numbers const& numbers) {
  using Mirror = HostMirror<Exec, typename Numbers::value_type>;
  if constexpr (runs_on_host_v<Exec>)
    return numbers;
  else
    return allocate<Mirror>(Kokkos::DefaultHostExecutionSpace(), numbers.label(),
                            numbers.extent(0));
}

}  // namespace blockspan::detail
