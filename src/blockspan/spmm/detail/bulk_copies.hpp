#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/tensor_tiles.hpp>
#include <blockspan/support/backend.hpp>

// Copies to the scratch of a team that pass by the registers (Hopper and later): many bytes in one,
// which the copy engine does alone, or 16 bytes a thread. A turnstile in scratch turns when it has
// seen its arrivals, and all bytes that were announced to it; who waits for it names the parity of
// the turn: that of the first one is 0. So warps wait for tiles and not for each other.

namespace blockspan::detail::bulk {

/// Whether the backend has such copies.
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100)
template <class Exec>
inline constexpr bool available = on_cuda_v<Exec>;
#else
template <class Exec>
inline constexpr bool available = false;
#endif

// What follows does nothing but on a device of CUDA: nothing else launches the kernels that call
// it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BLOCKSPAN_BULK_ASM(...) asm volatile(__VA_ARGS__)
#else
#define BLOCKSPAN_BULK_ASM(...) static_cast<void>(0)
#endif

/// What the functions below take for a place in scratch.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t address(void const* place) {
  return tensor::scratch_address(static_cast<double const*>(place));
}

KOKKOS_FORCEINLINE_FUNCTION void make_turnstile([[maybe_unused]] std::uint32_t turnstile,
                                                [[maybe_unused]] int arrivals) {
  BLOCKSPAN_BULK_ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(turnstile), "r"(arrivals)
                     : "memory");
}
/// By the thread that made them, before a barrier of the team.
KOKKOS_FORCEINLINE_FUNCTION void publish_turnstiles() {
  BLOCKSPAN_BULK_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
  BLOCKSPAN_BULK_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

KOKKOS_FORCEINLINE_FUNCTION void arrive([[maybe_unused]] std::uint32_t turnstile) {
  BLOCKSPAN_BULK_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(turnstile) : "memory");
}
/// The same, and announces bytes of copies.
KOKKOS_FORCEINLINE_FUNCTION void arrive_expecting([[maybe_unused]] std::uint32_t turnstile,
                                                  [[maybe_unused]] int bytes) {
  BLOCKSPAN_BULK_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(turnstile),
                     "r"(bytes)
                     : "memory");
}
/// Arrives when the copies of 16 bytes that this thread has begun are there.
KOKKOS_FORCEINLINE_FUNCTION void arrive_behind_copies([[maybe_unused]] std::uint32_t turnstile) {
  BLOCKSPAN_BULK_ASM("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(turnstile)
                     : "memory");
}

KOKKOS_FORCEINLINE_FUNCTION void wait_for_turn([[maybe_unused]] std::uint32_t turnstile,
                                               [[maybe_unused]] int parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t turned = 0;
  while (turned == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(turned)
        : "r"(turnstile), "r"(parity)
        : "memory");
#endif
}

/// Begins to copy: `bytes`, and both places, are whole multiples of 16.
KOKKOS_FORCEINLINE_FUNCTION void copy([[maybe_unused]] std::uint32_t to,
                                      [[maybe_unused]] void const* from, [[maybe_unused]] int bytes,
                                      [[maybe_unused]] std::uint32_t turnstile) {
  BLOCKSPAN_BULK_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(turnstile)
      : "memory");
}

/// Begins to copy 16, 8 or 4 bytes.
template <int Bytes>
KOKKOS_FORCEINLINE_FUNCTION void copy_few([[maybe_unused]] std::uint32_t to,
                                          [[maybe_unused]] void const* from) {
  if constexpr (Bytes == 16)
    BLOCKSPAN_BULK_ASM("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    BLOCKSPAN_BULK_ASM("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes)
                       : "memory");
}
/// Waits for all of them that this thread has begun.
KOKKOS_FORCEINLINE_FUNCTION void wait_for_few() {
  BLOCKSPAN_BULK_ASM("cp.async.wait_all;" ::: "memory");
}

// A warp whose lanes all take part.

KOKKOS_FORCEINLINE_FUNCTION unsigned lanes_with([[maybe_unused]] bool predicate) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(~0u, predicate);
#else
  return 0;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void meet_lanes() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void meet_team() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

#undef BLOCKSPAN_BULK_ASM

}  // namespace blockspan::detail::bulk
