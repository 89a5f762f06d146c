#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <blockspan/spmm/op.hpp>
#include <blockspan/support/error.hpp>

#include "runtime.hpp"

namespace blockspan::python {

/// Whether what is queued on the stream is recorded as a CUDA graph, and not run.
bool is_recorded(Stream stream);

/// While it lives, work for `other` belongs between what is queued on `stream` before and after.
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

/// What decides how a product is done, and what memory that needs.
struct CallKind {
  /// How a block lies in memory.
  struct Order {
    std::size_t down = 1, along = 1, offset = 0;  ///< strides, and bytes beyond 16

    bool operator==(Order const&) const = default;
  };

  Op op = Op::none;
  std::size_t columns = 0;
  bool own_values = true;  ///< those of the matrix, of which a plan may have copies
  Order x, y;

  bool operator==(CallKind const&) const = default;
};

template <class View>
CallKind::Order order_of(View const& X) {
  return {X.stride(0), X.stride(1), reinterpret_cast<std::uintptr_t>(X.data()) % 16};
}

/// Queues the calls of a plan. The second of a kind on a stream neither waits nor allocates, so
/// that a graph may record it: on its own stream, or else on one where that kind has run, since
/// streams that are recorded are mostly new.
class Calls {
 public:
  /// work(instance), in the order of the stream; on hosts done on return. Not from two threads.
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
