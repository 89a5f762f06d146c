#pragma once

#include <cstdint>
#include <cstring>

#include <blockspan/support/rooms.hpp>

/// nvcc supports vector types in host functions only.
#define BLOCKSPAN_HOST_INLINE inline __attribute__((always_inline))

/// Keeps a scalar in a register of its own: GCC 12 would pack adjacent scalars into a vector, one
/// element at a time.
#if defined(__x86_64__)
#define BLOCKSPAN_KEEP_SCALAR(scalar) asm("" : "+x"(scalar))
#else
#define BLOCKSPAN_KEEP_SCALAR(scalar) static_cast<void>(0)
#endif

#define BLOCKSPAN_NOINLINE __attribute__((noinline))

// The target's vector registers name an inline namespace with everything that depends on them, so
// that units compiled with other flags (an embedder's) do not violate the one-definition rule.
#if defined(__AVX512F__)
#define BLOCKSPAN_REGISTERS registers_of_64_bytes
#elif defined(__AVX__)
#define BLOCKSPAN_REGISTERS registers_of_32_bytes
#else
#define BLOCKSPAN_REGISTERS registers_of_16_bytes
#endif

namespace blockspan::support {
inline namespace BLOCKSPAN_REGISTERS {

/// Bytes of a vector register, and the number of registers (the last case: SSE). With SVE the
/// registers of NEON are used, whose length is known at compile time.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64, registers = 32;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32, registers = 16;
#elif defined(__aarch64__)
inline constexpr int register_bytes = 16, registers = 32;
#else
inline constexpr int register_bytes = 16, registers = 16;
#endif

/// N reals in registers, with the compiler's element-wise arithmetic (GCC and Clang). GCC 12 does
/// not vectorize plain loops over small arrays: it unrolls them first and then keeps scalars.
template <class Real, int N>
struct RegistersOf {
  typedef Real type __attribute__((vector_size(N * sizeof(Real))));
};
template <class Real>
struct RegistersOf<Real, 1> {
  using type = Real;
};

/// Width of the widest register that can be filled from `reals` values.
template <class Real>
constexpr int register_width(int reals) {
  int width = 1;
  while (2 * width <= reals && 2 * width * int(sizeof(Real)) <= register_bytes) width *= 2;
  return width;
}

/// Any number of reals in registers, the widest first: with AVX, 7 doubles are registers of 4, 2
/// and 1. Nested, because GCC 12 keeps an array of more than two registers in memory
/// (perf/notes/hosts.md).
template <class Real, int Reals>
struct RegisterSet {
  static constexpr int width = register_width<Real>(Reals);
  using Register = typename RegistersOf<Real, width>::type;

  Register first = {};
  RegisterSet<Real, Reals - width> others;

  /// Reads contiguous values.
  BLOCKSPAN_HOST_INLINE void load(Real const* from) {
    std::memcpy(&first, from, sizeof(Register));
    others.load(from + width);
  }
  /// Reads groups of `Group` contiguous values; consecutive groups are `stride` values apart.
  template <int Group>
  BLOCKSPAN_HOST_INLINE void load_strided(Real const* from, std::int64_t stride) {
    if constexpr (width == 1) {
      first = *from;
    } else {
      Real values[width];
      for (int j = 0; j < width; ++j) values[j] = from[j / Group * stride + j % Group];
      std::memcpy(&first, values, sizeof(Register));
    }
    others.template load_strided<Group>(from + width / Group * stride, stride);
  }
  BLOCKSPAN_HOST_INLINE void add_product(Real a, RegisterSet const& b) {
    first += a * b.first;
    others.add_product(a, b.others);
  }
  /// Adds the element-wise products.
  BLOCKSPAN_HOST_INLINE void add_products(RegisterSet const& a, RegisterSet const& b) {
    first += a.first * b.first;
    others.add_products(a.others, b.others);
  }
  BLOCKSPAN_HOST_INLINE void scale(Real a) {
    first *= a;
    others.scale(a);
  }
  BLOCKSPAN_HOST_INLINE void add(RegisterSet const& b) {
    first += b.first;
    others.add(b.others);
  }
  BLOCKSPAN_HOST_INLINE void store(Real* to) const {
    std::memcpy(to, &first, sizeof(Register));
    others.store(to + width);
  }
};

template <class Real>
struct RegisterSet<Real, 0> {
  BLOCKSPAN_HOST_INLINE void load(Real const*) {}
  template <int Group>
  BLOCKSPAN_HOST_INLINE void load_strided(Real const*, std::int64_t) {}
  BLOCKSPAN_HOST_INLINE void add_product(Real, RegisterSet const&) {}
  BLOCKSPAN_HOST_INLINE void add_products(RegisterSet const&, RegisterSet const&) {}
  BLOCKSPAN_HOST_INLINE void scale(Real) {}
  BLOCKSPAN_HOST_INLINE void add(RegisterSet const&) {}
  BLOCKSPAN_HOST_INLINE void store(Real*) const {}
};

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::support
