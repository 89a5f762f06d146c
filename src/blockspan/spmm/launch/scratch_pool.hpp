#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// Initial contents of scratch memory.
enum class Fill { nothing, zero };

struct ZeroBytes {
  char* memory;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { memory[i] = 0; }
};

/// Scratch memory of a plan: one buffer per execution space instance, so products on two streams do
/// not share one. Kept and reused; growing waits for the instance.
template <class Exec>
class ScratchPool {
 public:
  explicit ScratchPool(Fill fill = Fill::nothing) : fill_(fill) {}

  /// At least `bytes` bytes, for the work queued on `exec` until the next call with `exec`. Throws
  /// Error where memory is short; the instance then has no buffer, until the next call.
  void* reserve(Exec const& exec, std::size_t bytes) {
    std::lock_guard const lock(mutex_);
    Buffer& buffer = buffer_of(exec);
    if (buffer.memory.extent(0) < bytes) {
      exec.fence("Blockspan::spmm::scratch grows");
      buffer.memory = {};  // given back first
      auto const memory = allocate<Memory>(exec, "Blockspan::spmm::scratch", bytes);
      if (fill_ == Fill::zero)
        Kokkos::parallel_for(
            "Blockspan::spmm::scratch",
            Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::size_t>>(exec, 0, bytes),
            ZeroBytes{memory.data()});
      buffer.memory = memory;
    }
    return buffer.memory.data();
  }

 private:
  using Memory = Kokkos::View<char*, typename Exec::memory_space>;
  struct Buffer {
    Exec exec;
    Memory memory;
  };

  Buffer& buffer_of(Exec const& exec) {
    for (Buffer& buffer : buffers_)
      if (buffer.exec == exec) return buffer;
    return buffers_.emplace_back(Buffer{exec, Memory()});
  }

  Fill fill_;
  std::mutex mutex_;
  std::vector<Buffer> buffers_;
};

}  // namespace blockspan::products
