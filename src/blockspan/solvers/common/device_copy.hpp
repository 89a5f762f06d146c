#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// The values of a vector as a view of it.
template <class Real>
using HostValues = Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Real>
HostValues<Real> host_values(std::vector<Real>& values) {
  return HostValues<Real>(values.data(), values.size());
}
template <class Real>
HostValues<Real const> host_values(std::vector<Real> const& values) {
  return HostValues<Real const>(values.data(), values.size());
}

/// A new view with these values. Fences exec.
template <class View, class Exec, class Real>
View to_device(Exec const& exec, char const* label, std::vector<Real> const& values) {
  auto const result = allocate<View>(exec, label, values.size());
  Kokkos::deep_copy(exec, result, host_values(values));
  exec.fence("Blockspan::solvers: values of the host");
  return result;
}

/// Copies a few values of the host to the device. Keeps its memory between calls.
template <class Real, class Exec>
class DeviceCopy {
 public:
  /// A copy on the device, valid until the next call; `values` must live until the next fence.
  Real const* operator()(Exec const& exec, std::vector<Real> const& values) {
    std::size_t const count = values.size();
    if (numbers_.extent(0) < count)
      numbers_ = allocate<Numbers>(exec, "Blockspan::solvers::numbers", count);
    Kokkos::deep_copy(exec,
                      Kokkos::subview(numbers_, std::pair<std::size_t, std::size_t>(0, count)),
                      host_values(values));
    return numbers_.data();
  }

 private:
  using Numbers = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Numbers numbers_;
};

/// The host mirror of device values: the same memory on hosts; elsewhere page-locked memory, so
/// that a copy is asynchronous.
template <class Exec, class Real>
using HostMirror = Kokkos::View<Real*, std::conditional_t<runs_on_host_v<Exec>, Kokkos::HostSpace,
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
