#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/registers/unroll.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// `Width` neighbouring elements, read and written in one access (as double2 is).
template <class Scalar, int Width>
struct alignas(sizeof(Scalar) * Width) Vector {
  Scalar value[Width];
};

/// The sums of `Width` neighbouring columns of one row.
template <class Scalar, int Width>
struct Sum {
  Scalar value[Width];
};

/// Loads data that no thread writes during the kernel; on CUDA through the read-only cache path,
/// which the compiler does not use for pointers inside a functor.
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

/// The same of what is read once: on CUDA its lines are the first to leave the caches.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_once(T const* address) {
#if defined(__CUDA_ARCH__)
  return __ldcs(address);
#else
  return *address;
#endif
}

/// Makes the compiler treat a loaded value as used here, so that its load is issued before.
KOKKOS_FORCEINLINE_FUNCTION void keep_live([[maybe_unused]] double value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" ::"d"(value));
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void keep_live([[maybe_unused]] float value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" ::"f"(value));
#endif
}
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void keep_live(Kokkos::complex<Real> const& value) {
  keep_live(value.real());
  keep_live(value.imag());
}

/// No load is moved across it. Short of registers, the assembler would put loads of a batch behind
/// products that wait for others. A trap that is never reached ends a basic block; `place` is never
/// the largest count.
KOKKOS_FORCEINLINE_FUNCTION void scheduling_barrier([[maybe_unused]] std::uint32_t place) {
#if defined(__CUDA_ARCH__)
  asm volatile(
      "{ .reg .pred never; setp.eq.u32 never, %0, 0xffffffff; @never trap; }" ::"r"(place));
#endif
}

/// sum += a b if `wanted`; on CUDA predicated, not branched: behind a branch the compiler would
/// load a and b one after the other, after the sums before them.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void add_product_if(bool wanted, Scalar const& a, Scalar const& b,
                                                Scalar& sum) {
#if defined(__CUDA_ARCH__)
  if constexpr (is_complex_v<Scalar>) {
    add_product_if(wanted, a.real(), b.real(), sum.real());
    add_product_if(wanted, -a.imag(), b.imag(), sum.real());
    add_product_if(wanted, a.real(), b.imag(), sum.imag());
    add_product_if(wanted, a.imag(), b.real(), sum.imag());
  } else if constexpr (std::is_same_v<Scalar, double>) {
    asm("{ .reg .pred wanted; setp.ne.s32 wanted, %3, 0; @wanted fma.rn.f64 %0, %1, %2, %0; }"
        : "+d"(sum)
        : "d"(a), "d"(b), "r"(static_cast<int>(wanted)));
  } else {
    static_assert(std::is_same_v<Scalar, float>);
    asm("{ .reg .pred wanted; setp.ne.s32 wanted, %3, 0; @wanted fma.rn.f32 %0, %1, %2, %0; }"
        : "+f"(sum)
        : "f"(a), "f"(b), "r"(static_cast<int>(wanted)));
  }
#else
  if (wanted) sum += a * b;
#endif
}

}  // namespace blockspan::products
