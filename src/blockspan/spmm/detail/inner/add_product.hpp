#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// sum += a b if it is `wanted`, on CUDA without a branch: behind one, the compiler loads a and b
/// only there, after the sums before it, and what should be in flight together is loaded one after
/// the other.
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

}  // namespace blockspan::detail
