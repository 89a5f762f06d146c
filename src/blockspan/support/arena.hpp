#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::support {

template <class T, class Exec>
using Array = Kokkos::View<T*, Kokkos::Device<Exec, typename Exec::memory_space>>;

/// Memory pool for functions that need many arrays one after another: an allocation and its release
/// on a device cost as much as ten launches. A setup makes an arena and passes it to its steps.
/// Arrays are not initialized and may outlive the arena. For one thread and one instance: an array
/// is reused in stream order, without a fence.
template <class Exec>
class Arena {
 public:
  /// at_once: elements of a pooled allocation on devices, from which kept arrays are cut; 0: each
  /// array is allocated separately.
  explicit Arena(std::string label, std::int64_t at_once = 0)
      : label_(std::move(label)), at_once_(at_once) {}
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  /// An array to keep. On devices it is a part of a pooled allocation, which is freed with the last
  /// of its parts; on hosts, and beyond half of `at_once`, an allocation of its own.
  template <class T>
  Array<T, Exec> keep(Exec const& exec, std::int64_t size) {
    constexpr std::int64_t alignment = 256 / sizeof(T);
    std::int64_t const room = ceil_div(size, alignment) * alignment;
    if (runs_on_host_v<Exec> || 2 * room > at_once_) return make<T>(exec, size);
    auto& pool = std::get<Pool<T>>(pools_);
    if (pool.used + room > static_cast<std::int64_t>(pool.kept.extent(0))) {
      pool.kept = make<T>(exec, at_once_);
      pool.used = 0;
    }
    std::int64_t const begin = pool.used;
    pool.used += room;
    return Kokkos::subview(pool.kept, std::pair(begin, begin + size));
  }

  /// A temporary array, whose memory is reused once its last view is gone. Best fit among the free
  /// arrays; requests below 256 KiB, which are cheap to allocate, never occupy an array of twice
  /// that size.
  template <class T>
  Array<T, Exec> lend(Exec const& exec, std::int64_t size) {
    if (size == 0) return make<T>(exec, 0);
    constexpr std::int64_t small = (std::int64_t{1} << 18) / sizeof(T);
    auto& all = std::get<Pool<T>>(pools_).lent;
    Array<T, Exec> const* best = nullptr;
    for (auto const& array : all) {
      auto const room = static_cast<std::int64_t>(array.extent(0));
      bool const fits = room >= size && (size >= small || room < 2 * small);
      if (array.use_count() == 1 && fits && (best == nullptr || array.extent(0) < best->extent(0)))
        best = &array;
    }
    if (best == nullptr) {
      all.push_back(make<T>(exec, size));
      best = &all.back();
    }
    return Kokkos::subview(*best, std::pair(std::int64_t{0}, size));
  }

 private:
  template <class T>
  struct Pool {
    std::vector<Array<T, Exec>> lent;
    Array<T, Exec> kept;  ///< its first `used` elements are in use
    std::int64_t used = 0;
  };

  template <class T>
  Array<T, Exec> make(Exec const& exec, std::int64_t size) const {
    return allocate<Array<T, Exec>>(exec, label_, size);
  }

  std::string label_;
  std::int64_t at_once_;
  std::tuple<Pool<int>, Pool<std::int64_t>, Pool<std::uint64_t>, Pool<float>, Pool<double>,
             Pool<Kokkos::complex<float>>, Pool<Kokkos::complex<double>>>
      pools_;
};

/// See Arena::keep and Arena::lend.
template <class T, class Exec>
Array<T, Exec> kept_array(Exec const& exec, Arena<Exec>& arena, std::int64_t size) {
  return arena.template keep<T>(exec, size);
}
template <class T, class Exec>
Array<T, Exec> scratch_array(Exec const& exec, Arena<Exec>& arena, std::int64_t size) {
  return arena.template lend<T>(exec, size);
}

/// `count` arrays of one size, cut from one allocation.
template <class T, int count, class Exec>
std::array<Array<T, Exec>, count> scratch_arrays(Exec const& exec, Arena<Exec>& arena,
                                                 std::int64_t size) {
  auto const all = scratch_array<T>(exec, arena, count * size);
  std::array<Array<T, Exec>, count> parts;
  for (std::int64_t k = 0; k < count; ++k)
    parts[static_cast<std::size_t>(k)] =
        Kokkos::subview(all, std::pair<std::int64_t, std::int64_t>(k * size, (k + 1) * size));
  return parts;
}

}  // namespace blockspan::support
