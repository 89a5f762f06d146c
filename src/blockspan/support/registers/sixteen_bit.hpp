#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <cuda_fp16.h>
#endif

// half and bfloat16: storage types of 16 bits, computed with in float.

namespace blockspan {

namespace support {

template <class To, class From>
KOKKOS_FORCEINLINE_FUNCTION To with_bits_of(From const& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

KOKKOS_FORCEINLINE_FUNCTION float float_of_half(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(bits));
#else
  constexpr float rebias = 0x1p112f;  // corrects the exponent; exact, also for subnormal values
  std::uint32_t const placed = (bits & 0x7fffu) << 13;
  std::uint32_t const finite = with_bits_of<std::uint32_t>(with_bits_of<float>(placed) * rebias);
  std::uint32_t const infinite = placed >= 0x0f800000u ? 0x7f800000u : 0u;
  return with_bits_of<float>(finite | infinite | (bits & 0x8000u) << 16);
#endif
}

KOKKOS_FORCEINLINE_FUNCTION std::uint16_t half_of_float(float number) {
#if defined(__CUDA_ARCH__)
  return __half_as_ushort(__float2half_rn(number));
#else
  auto const bits = with_bits_of<std::uint32_t>(number);
  std::uint32_t const magnitude = bits & 0x7fffffffu;
  std::uint32_t result;
  if (magnitude >= 0x47800000u) {  // 2^16, infinity, NaN
    result = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // subnormal: near 1/2 the unit in the last place of a float is that of the result
    result = with_bits_of<std::uint32_t>(with_bits_of<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    result = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<std::uint16_t>(result | (bits & 0x80000000u) >> 16);
#endif
}

KOKKOS_FORCEINLINE_FUNCTION float float_of_bfloat16(std::uint16_t bits) {
  return with_bits_of<float>(static_cast<std::uint32_t>(bits) << 16);
}

KOKKOS_FORCEINLINE_FUNCTION std::uint16_t bfloat16_of_float(float number) {
  auto const bits = with_bits_of<std::uint32_t>(number);
  bool const is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  std::uint32_t const rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
}

}  // namespace support

/// 16-bit floating-point types for storage only: arithmetic is in float, to which they convert
/// implicitly and exactly. A float is rounded to nearest, ties to even; overflow gives an infinity,
/// NaN stays NaN. The bit patterns are those of NumPy and PyTorch. (Kokkos' half_t is a float on
/// hosts.)
///
/// half: binary16 of IEEE 754, 11 bits of precision, up to 65504, subnormal below 2^-14.
struct half {
  std::uint16_t bits;

  half() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit half(float number) : bits(support::half_of_float(number)) {}
  KOKKOS_FORCEINLINE_FUNCTION operator float() const { return support::float_of_half(bits); }
};

/// bfloat16: the upper half of a float, 8 bits of precision and the range of float.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit bfloat16(float number)
      : bits(support::bfloat16_of_float(number)) {}
  KOKKOS_FORCEINLINE_FUNCTION operator float() const { return support::float_of_bfloat16(bits); }
};

template <class Scalar>
inline constexpr bool is_sixteen_bit_v = std::is_same_v<std::remove_cv_t<Scalar>, half> ||
                                         std::is_same_v<std::remove_cv_t<Scalar>, bfloat16>;

/// The type of arithmetic with stored values: float for 16-bit types, otherwise the type itself.
template <class Stored>
using computed_t = std::conditional_t<is_sixteen_bit_v<Stored>, float, std::remove_cv_t<Stored>>;

namespace support {
template <>
struct ScalarTraits<half> {
  using Real = half;
  static constexpr bool is_complex = false;
};
template <>
struct ScalarTraits<bfloat16> {
  using Real = bfloat16;
  static constexpr bool is_complex = false;
};
}  // namespace support

}  // namespace blockspan
