#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <blockspan/spmm/op.hpp>
#include <blockspan/support/error.hpp>

#include "runtime.hpp"

namespace blockspan::python {

/// Whether the stream is being captured into a CUDA graph.
bool is_recorded(Stream stream);

/// During its lifetime, work queued on `other` is ordered after the work on `stream` so far; work
/// queued on `stream` afterwards waits for it.
class Detour {
 public:
  Detour(Stream stream, Stream other);
  Detour(Detour const&) = delete;
  ~Detour();

 private:
  void join(Stream before, Stream after) const;

  Stream stream_, other_;
  void* event_ = nullptr;
};

/// The properties of a call that determine its kernels and the memory they need.
struct CallKind {
  /// The layout of a block.
  struct Order {
    std::size_t down = 1, along = 1, offset = 0;  ///< strides; address modulo 16 bytes

    bool operator==(Order const&) const = default;
  };

  Op op = Op::none;
  std::size_t columns = 0;
  bool own_values = true;  ///< the values of the matrix, which a plan may have copied
  Order x, y;

  bool operator==(CallKind const&) const = default;
};

template <class View>
CallKind::Order order_of(View const& X) {
  return {X.stride(0), X.stride(1), reinterpret_cast<std::uintptr_t>(X.data()) % 16};
}

/// Queues the calls of a plan. From the second call of a kind on a stream on, nothing waits or
/// allocates, so that a CUDA graph can capture it. Streams that are captured are mostly new: such a
/// call is queued on a stream where its kind has already run.
class Calls {
 public:
  /// Calls work(instance), in stream order; on hosts it is complete on return. Not thread-safe.
  template <class Work>
  void queue(Stream stream, CallKind const& kind, Work const& work) {
    if constexpr (!on_device) {
      work(Exec());
      finish(Exec());
    } else if (!is_recorded(stream)) {
      work(instance_of(stream));
      if (!has_run(stream, kind)) run_.emplace_back(stream, kind);
    } else if (has_run(stream, kind)) {
      work(instance_of(stream));
    } else {
      Stream const other = where_it_ran(kind);
      Detour const detour(stream, other);
      work(instance_of(other));
    }
  }

 private:
  bool has_run(Stream stream, CallKind const& kind) const {
    for (auto call = run_.rbegin(); call != run_.rend(); ++call)
      if (call->first == stream && call->second == kind) return true;
    return false;
  }

  Stream where_it_ran(CallKind const& kind) const {
    for (auto const& [stream, ran] : run_)
      if (stream != 0 && ran == kind) return stream;  // work for the default one is never recorded
    fail("blockspan",
         "a CUDA graph is recorded, and a call of this kind (operation, columns, order) would have "
         "to allocate: make one before, on a stream that is not the default one");
  }

  std::vector<std::pair<Stream, CallKind>> run_;
};

}  // namespace blockspan::python
