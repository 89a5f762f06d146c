#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

/// Scratch memory of calls: it grows to the largest request and is then reused, so that iterations
/// after the first allocate nothing. Pass the same workspace to every call of a solver; calls
/// without one allocate and free their own. A workspace serves one instance at a time: calls in
/// stream order may share buffers. Growing fences the instance and throws Error where memory is
/// short; that buffer is then empty, and may be requested again.
template <class Exec>
class Workspace {
 public:
  /// Sums over rows with this workspace run over all ranks of `rows`.
  explicit Workspace(RowSpace rows = {}) : rows_(std::move(rows)) {}
  RowSpace const& rows() const { return rows_; }

  /// The buffers that one call may use at the same time.
  enum Slot { partials, coefficients, product, result, ranks, slots };

  /// At least `count` elements of T in memory of Exec; their content is undefined. Valid until the
  /// next request for the same slot.
  template <class T>
  T* device(Exec const& exec, Slot slot, std::int64_t count) {
    return static_cast<T*>(grow(exec, device_[slot], bytes<T>(count)));
  }

  /// The same in host memory.
  template <class T>
  T* host(Exec const& exec, Slot slot, std::int64_t count) {
    return static_cast<T*>(grow(exec, host_[slot], bytes<T>(count)));
  }

  /// The joins of RowSpace::padded_joins() in memory of Exec, as consecutive pairs.
  std::int64_t const* joins(Exec const& exec) {
    if (joins_.size() == 0) {
      auto const joins = rows_.padded_joins();
      auto const on_device = allocate<decltype(joins_)>(exec, "Blockspan::workspace::joins",
                                                        2 * std::max<std::size_t>(joins.size(), 1));
      auto const mirror = Kokkos::create_mirror_view(on_device);
      for (std::size_t i = 0; i < joins.size(); ++i)
        mirror(2 * i) = joins[i].first, mirror(2 * i + 1) = joins[i].second;
      Kokkos::deep_copy(exec, on_device, mirror);
      exec.fence("Blockspan::workspace::joins");
      joins_ = on_device;
    }
    return joins_.data();
  }

 private:
  template <class Space>
  using Buffer = Kokkos::View<std::byte*, Space>;

  template <class T>
  static std::size_t bytes(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(T);
  }

  /// Grows by at least a half, so that slowly increasing widths do not allocate each time.
  template <class Space>
  static void* grow(Exec const& exec, Buffer<Space>& buffer, std::size_t size) {
    if (buffer.size() < size) {
      exec.fence("Blockspan::Workspace grows");
      std::size_t const larger =
          ceil_div(std::max(size, buffer.size() + buffer.size() / 2), 64) * 64;
      buffer = {};
      buffer = allocate<Buffer<Space>>(exec, "Blockspan::workspace", larger);
    }
    return buffer.data();
  }

  RowSpace rows_;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> joins_;
  std::array<Buffer<typename Exec::memory_space>, slots> device_;
  std::array<Buffer<Kokkos::HostSpace>, slots> host_;
};

namespace blocks {

/// The workspace of a call without one: lives as long as the call.
template <class Exec>
struct OwnWorkspace {
  Workspace<Exec> workspace;
  operator Workspace<Exec>&() && { return workspace; }
};

}  // namespace blocks

}  // namespace blockspan
