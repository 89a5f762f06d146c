#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/memory.hpp>

namespace blockspan::support {

template <class T, class Exec>
using Array = Kokkos::View<T*, Kokkos::Device<Exec, typename Exec::memory_space>>;

/// Of the objects of a class that live on this thread, the one that was made last.
template <class Derived>
class InnermostOfThread {
 public:
  InnermostOfThread(InnermostOfThread const&) = delete;
  InnermostOfThread& operator=(InnermostOfThread const&) = delete;

  /// Null: there is none.
  static Derived*& current() {
    thread_local Derived* now = nullptr;
    return now;
  }

 protected:
  InnermostOfThread() : outer_(current()) { current() = static_cast<Derived*>(this); }
  ~InnermostOfThread() { current() = outer_; }

 private:
  Derived* outer_;
};

/// Arrays that functions need for a while, for those who ask next: to allocate and release on a
/// device takes as long as ten launches. While one of these lives, scratch_array of its thread
/// takes from it; steps of one instance follow each other, so nobody waits for a former user. All
/// are released with it, but for those still in use.
template <class T, class Exec>
class ScratchArrays : public InnermostOfThread<ScratchArrays<T, Exec>> {
 public:
  /// The smallest that is free and has room; small ones, which cost little, are not taken from
  /// large ones.
  Array<T, Exec> take(Exec const& exec, std::string const& label, std::size_t size) {
    constexpr std::size_t small = (std::size_t{1} << 18) / sizeof(T);
    Array<T, Exec> const* best = nullptr;
    for (auto const& array : all_) {
      std::size_t const room = array.extent(0);
      bool const fits = room >= size && (size >= small || room < 2 * small);
      if (array.use_count() == 1 && fits && (best == nullptr || room < best->extent(0)))
        best = &array;
    }
    if (best == nullptr) {
      all_.push_back(allocate<Array<T, Exec>>(exec, label, size));
      best = &all_.back();
    }
    return Kokkos::subview(*best, std::pair<std::size_t, std::size_t>(0, size));
  }

 private:
  std::vector<Array<T, Exec>> all_;
};

/// An array that is not initialized, for the caller's own use: nobody else should keep it.
template <class T, class Exec>
Array<T, Exec> scratch_array(Exec const& exec, std::string const& label, std::size_t size) {
  auto* const scratch = ScratchArrays<T, Exec>::current();
  if (scratch != nullptr && size > 0) return scratch->take(exec, label, size);
  return allocate<Array<T, Exec>>(exec, label, size);
}

}  // namespace blockspan::support
