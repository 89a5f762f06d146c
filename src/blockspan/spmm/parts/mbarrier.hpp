#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/support/backend.hpp>

// Asynchronous copies to shared memory (Hopper and later): cp.async.bulk, many bytes by the copy
// engine, and cp.async, up to 16 bytes a thread, with mbarriers that signal when a tile has
// arrived.

namespace blockspan::products::bulk {

/// Whether the backend has such copies.
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100)
template <class Exec>
inline constexpr bool available = on_cuda_v<Exec>;
#else
template <class Exec>
inline constexpr bool available = false;
#endif

// No-ops but on CUDA devices, on which alone the kernels that call them are launched.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BLOCKSPAN_BULK_ASM(...) asm volatile(__VA_ARGS__)
#else
#define BLOCKSPAN_BULK_ASM(...) static_cast<void>(0)
#endif

/// An address in shared memory, for the functions below.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t shared_address(void const* place) {
  return tensor::scratch_address(static_cast<double const*>(place));
}

KOKKOS_FORCEINLINE_FUNCTION void mbarrier_init([[maybe_unused]] std::uint32_t barrier,
                                               [[maybe_unused]] int arrivals) {
  BLOCKSPAN_BULK_ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                     : "memory");
}
/// By the thread that initialized them, before syncthreads.
KOKKOS_FORCEINLINE_FUNCTION void mbarrier_fence_init() {
  BLOCKSPAN_BULK_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
  BLOCKSPAN_BULK_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

KOKKOS_FORCEINLINE_FUNCTION void mbarrier_arrive([[maybe_unused]] std::uint32_t barrier) {
  BLOCKSPAN_BULK_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// The same, and adds bytes to the transaction count.
KOKKOS_FORCEINLINE_FUNCTION void mbarrier_arrive_expect_tx([[maybe_unused]] std::uint32_t barrier,
                                                           [[maybe_unused]] int bytes) {
  BLOCKSPAN_BULK_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                     "r"(bytes)
                     : "memory");
}
/// Arrives when all prior cp_async of this thread have completed.
KOKKOS_FORCEINLINE_FUNCTION void cp_async_mbarrier_arrive([[maybe_unused]] std::uint32_t barrier) {
  BLOCKSPAN_BULK_ASM("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier)
                     : "memory");
}

KOKKOS_FORCEINLINE_FUNCTION void mbarrier_wait_parity([[maybe_unused]] std::uint32_t barrier,
                                                      [[maybe_unused]] int parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
#endif
}

/// `bytes` and both addresses are multiples of 16.
KOKKOS_FORCEINLINE_FUNCTION void cp_async_bulk([[maybe_unused]] std::uint32_t to,
                                               [[maybe_unused]] void const* from,
                                               [[maybe_unused]] int bytes,
                                               [[maybe_unused]] std::uint32_t barrier) {
  BLOCKSPAN_BULK_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

/// Bytes: 16, 8 or 4.
template <int Bytes>
KOKKOS_FORCEINLINE_FUNCTION void cp_async([[maybe_unused]] std::uint32_t to,
                                          [[maybe_unused]] void const* from) {
  if constexpr (Bytes == 16)
    BLOCKSPAN_BULK_ASM("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    BLOCKSPAN_BULK_ASM("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes)
                       : "memory");
}
KOKKOS_FORCEINLINE_FUNCTION void cp_async_wait_all() {
  BLOCKSPAN_BULK_ASM("cp.async.wait_all;" ::: "memory");
}

KOKKOS_FORCEINLINE_FUNCTION void syncwarp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void syncthreads() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

#undef BLOCKSPAN_BULK_ASM

}  // namespace blockspan::products::bulk
