#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/registers/sixteen_bit.hpp>

#if defined(__F16C__)
#include <immintrin.h>
#endif

// Hosts: 16-bit scalars in memory, floats in registers.

namespace blockspan::products {
inline namespace BLOCKSPAN_REGISTERS {

/// Integers beside a register of floats, and in memory.
template <int Width>
struct IntegersOf {
  typedef std::uint32_t Wide __attribute__((vector_size(Width * 4)));
  typedef std::uint16_t Narrow __attribute__((vector_size(Width * 2)));
};

/// `Width` contiguous scalars as floats ...
template <int Width, class Storage>
BLOCKSPAN_HOST_INLINE typename RegistersOf<float, Width>::type widen(Storage const* from) {
  if constexpr (Width == 1) {
#if defined(__F16C__)
    if constexpr (std::is_same_v<Storage, half>) return _cvtsh_ss(from->bits);
#endif
    return *from;
  } else if constexpr (std::is_same_v<Storage, bfloat16>) {
    typename IntegersOf<Width>::Narrow narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    auto const wide = __builtin_convertvector(narrow, typename IntegersOf<Width>::Wide) << 16;
    return (typename RegistersOf<float, Width>::type)wide;
  } else {
    typename RegistersOf<float, Width>::type result;
#if defined(__F16C__)
#if defined(__AVX512F__)
    if constexpr (Width == 16) {
      __m256i narrow;
      std::memcpy(&narrow, from, sizeof(narrow));
      return (typename RegistersOf<float, Width>::type)_mm512_maskz_cvtph_ps(0xffff, narrow);
    }
#endif
    if constexpr (Width <= 8) {
      __m128i narrow = _mm_setzero_si128();
      std::memcpy(&narrow, from, Width * sizeof(Storage));
      __m256 const wide = _mm256_cvtph_ps(narrow);
      std::memcpy(&result, &wide, sizeof(result));
      return result;
    }
#endif
    float values[Width];
    for (int j = 0; j < Width; ++j) values[j] = from[j];
    std::memcpy(&result, values, sizeof(result));
    return result;
  }
}

/// ... and floats rounded to them.
template <int Width, class Storage>
BLOCKSPAN_HOST_INLINE void narrow(typename RegistersOf<float, Width>::type const& values,
                                  Storage* to) {
  if constexpr (Width == 1) {
    *to = Storage(values);
  } else if constexpr (std::is_same_v<Storage, bfloat16>) {
    using Wide = typename IntegersOf<Width>::Wide;
    auto const bits = (Wide)values;
    auto const is_nan = (Wide)((bits & 0x7fffffffu) > 0x7f800000u);
    Wide const rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    Wide const chosen = ((bits | 0x400000u) & is_nan) | (rounded & ~is_nan);
    auto const result = __builtin_convertvector(chosen >> 16, typename IntegersOf<Width>::Narrow);
    std::memcpy(to, &result, sizeof(result));
  } else {
#if defined(__F16C__)
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT;
#if defined(__AVX512F__)
    if constexpr (Width == 16) {
      __m256i const result = _mm512_maskz_cvtps_ph(0xffff, (__m512)values, nearest);
      std::memcpy(to, &result, sizeof(result));
      return;
    }
#endif
    if constexpr (Width <= 8) {
      __m256 wide = _mm256_setzero_ps();
      std::memcpy(&wide, &values, sizeof(values));
      __m128i const result = _mm256_cvtps_ph(wide, nearest);
      std::memcpy(to, &result, Width * sizeof(Storage));
      return;
    }
#endif
    float separate[Width];
    std::memcpy(separate, &values, sizeof(separate));
    for (int j = 0; j < Width; ++j) to[j] = Storage(separate[j]);
  }
}

/// A row of contiguous scalars.
template <class Storage>
BLOCKSPAN_HOST_INLINE void widen_row(Storage const* from, int count, float* to) {
  constexpr int width = register_bytes / int(sizeof(float));
  int j = 0;
  for (; count - j >= width; j += width) {
    auto const wide = widen<width>(from + j);
    std::memcpy(to + j, &wide, sizeof(wide));
  }
  for (; j < count; ++j) to[j] = widen<1>(from + j);
}

/// Loads and stores a set of registers.
template <class Storage, int Reals>
BLOCKSPAN_HOST_INLINE void load_set(RegisterSet<float, Reals>& set, Storage const* from) {
  if constexpr (Reals > 0) {
    constexpr int width = RegisterSet<float, Reals>::width;
    set.first = widen<width>(from);
    load_set(set.others, from + width);
  }
}
template <class Storage, int Reals>
BLOCKSPAN_HOST_INLINE void store_set(RegisterSet<float, Reals> const& set, Storage* to) {
  if constexpr (Reals > 0) {
    constexpr int width = RegisterSet<float, Reals>::width;
    narrow<width>(set.first, to);
    store_set(set.others, to + width);
  }
}

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::products
