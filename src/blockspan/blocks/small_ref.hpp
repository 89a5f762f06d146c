#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::blocks {

/// A small matrix, or a vector as a matrix of one column, in host or device memory.
template <class T>
struct SmallRef {
  BlockRef<T> block;
  bool on_device;  ///< kernels can access it directly
  bool on_host;    ///< the host can access it; a result here is complete when the call returns

  template <class Target>
  requires(!std::is_const_v<T> && std::is_same_v<Target, T const>) operator SmallRef<Target>()
      const {
    return {block, on_device, on_host};
  }
};

template <class Exec, class View>
SmallRef<typename View::value_type> small_ref(View const& A) {
  using Space = typename View::memory_space;
  constexpr bool on_device = Kokkos::SpaceAccessibility<Exec, Space>::accessible;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;
  static_assert(on_device || on_host,
                "a small operand must be accessible to the execution space or to the host");
  static_assert(View::rank() == 1 || View::rank() == 2, "a small operand has rank 1 or 2");
  auto const extent = [&A](int r) { return static_cast<std::int64_t>(A.extent(r)); };
  auto const stride = [&A](int r) { return static_cast<std::int64_t>(A.stride(r)); };
  if constexpr (View::rank() == 1)
    return {{A.data(), extent(0), 1, stride(0), 1}, on_device, on_host};
  else
    return {{A.data(), extent(0), extent(1), stride(0), stride(1)}, on_device, on_host};
}

/// Where a kernel writes a small result: the target itself, or a column-major buffer in the
/// workspace, which deliver() copies to the target.
template <class Exec, class T>
BlockRef<T> result_on_device(Exec const& exec, SmallRef<T> const& target,
                             Workspace<Exec>& workspace) {
  if (target.on_device) return target.block;
  auto const [data, rows, columns, row_stride, column_stride] = target.block;
  return {workspace.template device<T>(exec, Workspace<Exec>::result, rows * columns), rows,
          columns, 1, rows};
}

/// Copies count elements between the host and the device.
template <class Exec, class To, class From, class T, class U>
void copy_elements(Exec const& exec, T* to, U const* from, std::int64_t count) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(exec, Kokkos::View<T*, To, Unmanaged>(to, static_cast<std::size_t>(count)),
                    Kokkos::View<U const*, From, Unmanaged>(from, static_cast<std::size_t>(count)));
}

/// Copies a result to its target, unless it is there; fences if the host can access the target.
template <class Exec, class T>
void deliver(Exec const& exec, BlockRef<T> const& result, SmallRef<T> const& target,
             Workspace<Exec>& workspace) {
  auto const& G = target.block;
  if (!target.on_device && G.rows * G.columns > 0) {
    std::int64_t const count = G.rows * G.columns;
    T* const buffer = workspace.template host<T>(exec, Workspace<Exec>::result, count);
    copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, buffer, result.data,
                                                                        count);
    exec.fence("Blockspan: a result on the host");
    for (std::int64_t j = 0; j < G.columns; ++j)
      for (std::int64_t i = 0; i < G.rows; ++i) G(i, j) = buffer[i + j * G.rows];
  } else if (target.on_host) {
    exec.fence("Blockspan: a result on the host");
  }
}

/// A small operand in memory that kernels can read: itself, or a copy in the workspace.
template <class Exec, class T>
BlockRef<T const> operand_on_device(Exec const& exec, SmallRef<T const> const& operand,
                                    Workspace<Exec>& workspace) {
  auto const& C = operand.block;
  std::int64_t const count = C.rows * C.columns;
  if (operand.on_device || count == 0) return C;
  T* const packed = workspace.template host<T>(exec, Workspace<Exec>::coefficients, count);
  for (std::int64_t j = 0; j < C.columns; ++j)
    for (std::int64_t i = 0; i < C.rows; ++i) packed[i + j * C.rows] = C(i, j);
  T* const copy = workspace.template device<T>(exec, Workspace<Exec>::coefficients, count);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, copy, packed, count);
  return {copy, C.rows, C.columns, 1, C.rows};
}

}  // namespace blockspan::blocks
