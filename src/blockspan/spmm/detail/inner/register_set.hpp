#pragma once

#include <cstdint>
#include <cstring>

#include <blockspan/spmm/detail/tuning.hpp>

/// nvcc takes vector types in functions of the host only.
#define BLOCKSPAN_HOST_INLINE inline __attribute__((always_inline))

namespace blockspan::detail {

/// N numbers in registers, with the compiler's element-wise arithmetic (GCC and Clang). Plain loops
/// over small arrays are not vectorised by GCC 12: it unrolls them first and then keeps scalars.
template <class Real, int N>
struct RegistersOf {
  typedef Real type __attribute__((vector_size(N * sizeof(Real))));
};
template <class Real>
struct RegistersOf<Real, 1> {
  using type = Real;
};

/// The widest register that `Reals` numbers fill.
template <class Real>
constexpr int register_width(int reals) {
  int width = 1;
  while (2 * width <= reals && 2 * width * int(sizeof(Real)) <= tuning::host_register_bytes)
    width *= 2;
  return width;
}

/// Any number of reals in registers: as many of the widest as fit, then narrower ones, so that a
/// row of 7 doubles is one of 4, one of 2 and one. Reals is known to the compiler, which keeps the
/// whole set in registers.
template <class Real, int Reals>
struct RegisterSet {
  static constexpr int width = register_width<Real>(Reals);
  static constexpr int count = Reals / width;
  static constexpr int rest = Reals % width;
  using Register = typename RegistersOf<Real, width>::type;

  Register registers[count] = {};
  RegisterSet<Real, rest> tail;

  /// Reads contiguous numbers.
  BLOCKSPAN_HOST_INLINE void load(Real const* from) {
    for (int i = 0; i < count; ++i)
      if constexpr (width == 1)
        registers[i] = from[i];
      else
        std::memcpy(&registers[i], from + i * width, sizeof(Register));
    tail.load(from + count * width);
  }
  /// Reads groups of `Group` contiguous numbers, `stride` numbers from one to the next.
  template <int Group>
  BLOCKSPAN_HOST_INLINE void load_strided(Real const* from, std::int64_t stride) {
    if constexpr (width == 1) {
      for (int i = 0; i < count; ++i) registers[i] = from[i * stride];
    } else {
      for (int i = 0; i < count; ++i) {
        Real numbers[width];
        for (int j = 0; j < width; ++j)
          numbers[j] = from[(i * width + j) / Group * stride + j % Group];
        std::memcpy(&registers[i], numbers, sizeof(Register));
      }
    }
    tail.template load_strided<Group>(from + count * width / Group * stride, stride);
  }
  BLOCKSPAN_HOST_INLINE void add_product(Real a, RegisterSet const& b) {
    for (int i = 0; i < count; ++i) registers[i] += a * b.registers[i];
    tail.add_product(a, b.tail);
  }
  /// Number by number.
  BLOCKSPAN_HOST_INLINE void add_products(RegisterSet const& a, RegisterSet const& b) {
    for (int i = 0; i < count; ++i) registers[i] += a.registers[i] * b.registers[i];
    tail.add_products(a.tail, b.tail);
  }
  BLOCKSPAN_HOST_INLINE void add(RegisterSet const& b) {
    for (int i = 0; i < count; ++i) registers[i] += b.registers[i];
    tail.add(b.tail);
  }
  BLOCKSPAN_HOST_INLINE void store(Real* to) const {
    for (int i = 0; i < count; ++i)
      if constexpr (width == 1)
        to[i] = registers[i];
      else
        std::memcpy(to + i * width, &registers[i], sizeof(Register));
    tail.store(to + count * width);
  }
};

template <class Real>
struct RegisterSet<Real, 0> {
  BLOCKSPAN_HOST_INLINE void load(Real const*) {}
  template <int Group>
  BLOCKSPAN_HOST_INLINE void load_strided(Real const*, std::int64_t) {}
  BLOCKSPAN_HOST_INLINE void add_product(Real, RegisterSet const&) {}
  BLOCKSPAN_HOST_INLINE void add_products(RegisterSet const&, RegisterSet const&) {}
  BLOCKSPAN_HOST_INLINE void add(RegisterSet const&) {}
  BLOCKSPAN_HOST_INLINE void store(Real*) const {}
};

}  // namespace blockspan::detail
