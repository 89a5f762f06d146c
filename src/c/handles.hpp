#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include <blockspan/support/error.hpp>

namespace blockspan::capi {

/// The table of live handles of one kind. A destroyed handle is recognized until its address is
/// reused.
template <class Handle, class Object>
class Handles {
 public:
  Handle add(std::shared_ptr<Object> object) {
    auto const handle = reinterpret_cast<Handle>(object.get());
    std::scoped_lock const lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }

  std::shared_ptr<Object> find(char const* where, char const* name, Handle handle) const {
    require(handle != nullptr, where, name, " is NULL");
    std::scoped_lock const lock(mutex_);
    auto const at = objects_.find(handle);
    require(at != objects_.end(), where, name, " is no handle, or one that was destroyed");
    return at->second;
  }
  /// Null for null.
  std::shared_ptr<Object> find_or_null(char const* where, char const* name, Handle handle) const {
    return handle == nullptr ? nullptr : find(where, name, handle);
  }

  void remove(char const* where, char const* name, Handle handle) {
    std::shared_ptr<Object> const last =
        find(where, name, handle);  // destroyed after the lock is released
    std::scoped_lock const lock(mutex_);
    objects_.erase(handle);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace blockspan::capi
