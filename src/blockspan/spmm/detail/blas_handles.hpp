#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace blockspan::detail {

/// What a BLAS wants to keep between calls, one a instance of the execution space; made on demand.
template <class Exec>
class BlasHandles {
 public:
  /// `make(exec)` returns a shared_ptr<void>; called once per instance.
  template <class Make>
  void* of(Exec const& exec, Make const& make) {
    std::lock_guard const lock(mutex_);
    for (auto const& [instance, handle] : handles_)
      if (instance == exec) return handle.get();
    return handles_.emplace_back(exec, make(exec)).second.get();
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Exec, std::shared_ptr<void>>> handles_;
};

}  // namespace blockspan::detail
