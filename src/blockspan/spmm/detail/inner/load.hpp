#pragma once

#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

#include <blockspan/support/unroll.hpp>

namespace blockspan::detail {

/// `Width` neighbours, read and written in one access.
template <class Scalar, int Width>
struct alignas(sizeof(Scalar) * Width) Pack {
  Scalar value[Width];
};

/// Reads what no thread writes during the kernel; on CUDA through the read-only cache path, which
/// the compiler does not take by itself for pointers inside a functor.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load(T const* address) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  T result;
  if constexpr (sizeof(T) == 16) {
    static_assert(alignof(T) == 16);
    uint4 const word = __ldg(reinterpret_cast<uint4 const*>(address));
    memcpy(&result, &word, sizeof(T));
  } else if constexpr (sizeof(T) == 8) {
    static_assert(alignof(T) == 8);
    uint2 const word = __ldg(reinterpret_cast<uint2 const*>(address));
    memcpy(&result, &word, sizeof(T));
  } else if constexpr (sizeof(T) == 2) {
    unsigned short const word = __ldg(reinterpret_cast<unsigned short const*>(address));
    memcpy(&result, &word, sizeof(T));
  } else {
    unsigned const word = __ldg(reinterpret_cast<unsigned const*>(address));
    memcpy(&result, &word, sizeof(T));
  }
  return result;
#else
  return *address;
#endif
}

/// Names a number that was loaded: its load stands before what follows, for the compiler.
KOKKOS_FORCEINLINE_FUNCTION void is_loaded([[maybe_unused]] double number) {
#if defined(__CUDA_ARCH__)
  asm volatile("" ::"d"(number));
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void is_loaded([[maybe_unused]] float number) {
#if defined(__CUDA_ARCH__)
  asm volatile("" ::"f"(number));
#endif
}
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void is_loaded(Kokkos::complex<Real> const& number) {
  is_loaded(number.real());
  is_loaded(number.imag());
}

/// A place that no load is moved across: short of registers, the assembler puts some behind
/// products that wait for others, which are in flight alone then. A trap that is never reached ends
/// what it looks at; `place` is never the greatest number.
KOKKOS_FORCEINLINE_FUNCTION void no_load_passes([[maybe_unused]] std::uint32_t place) {
#if defined(__CUDA_ARCH__)
  asm volatile(
      "{ .reg .pred never; setp.eq.u32 never, %0, 0xffffffff; @never trap; }" ::"r"(place));
#endif
}

}  // namespace blockspan::detail
