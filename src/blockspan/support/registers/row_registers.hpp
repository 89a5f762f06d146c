#pragma once

#include <algorithm>
#include <cstring>

#include <blockspan/support/registers/register_set.hpp>

#if defined(__AVX__) && defined(__x86_64__)
#include <immintrin.h>
#endif

namespace blockspan::support {
inline namespace BLOCKSPAN_REGISTERS {

/// Mask of the first `count` reals of a register of `Width`, 0 <= count <= Width: loads and stores
/// access no memory beyond them. Values that are not loaded are zero. On processors without masked
/// loads, element by element.
template <class Real, int Width>
struct LaneMask {
  using Register = typename RegistersOf<Real, Width>::type;

  int count = 0;

  static LaneMask first(int count) { return {count}; }
  BLOCKSPAN_HOST_INLINE Register load(Real const* from) const {
    Real values[Width] = {};
    for (int j = 0; j < Width; ++j)
      if (j < count) values[j] = from[j];
    Register result;
    std::memcpy(&result, values, sizeof(Register));
    return result;
  }
  BLOCKSPAN_HOST_INLINE void store(Real* to, Register const& from) const {
    Real values[Width];
    std::memcpy(values, &from, sizeof(Register));
    for (int j = 0; j < Width; ++j)
      if (j < count) to[j] = values[j];
  }
};

// AVX-512 masks have one bit a value, AVX masks the sign bit of each value.
#if defined(__AVX512VL__)

#define BLOCKSPAN_LANE_MASK(Real, Width, Bits, Native, load_masked, store_masked)        \
  template <>                                                                            \
  struct LaneMask<Real, Width> {                                                         \
    using Register = typename RegistersOf<Real, Width>::type;                            \
    Bits bits = 0;                                                                       \
    static LaneMask first(int count) { return {static_cast<Bits>((1u << count) - 1u)}; } \
    BLOCKSPAN_HOST_INLINE Register load(Real const* from) const {                        \
      return (Register)load_masked(bits, from);                                          \
    }                                                                                    \
    BLOCKSPAN_HOST_INLINE void store(Real* to, Register const& from) const {             \
      store_masked(to, bits, (Native)from);                                              \
    }                                                                                    \
  };
BLOCKSPAN_LANE_MASK(double, 8, __mmask8, __m512d, _mm512_maskz_loadu_pd, _mm512_mask_storeu_pd)
BLOCKSPAN_LANE_MASK(double, 4, __mmask8, __m256d, _mm256_maskz_loadu_pd, _mm256_mask_storeu_pd)
BLOCKSPAN_LANE_MASK(float, 16, __mmask16, __m512, _mm512_maskz_loadu_ps, _mm512_mask_storeu_ps)
BLOCKSPAN_LANE_MASK(float, 8, __mmask8, __m256, _mm256_maskz_loadu_ps, _mm256_mask_storeu_ps)
BLOCKSPAN_LANE_MASK(float, 4, __mmask8, __m128, _mm_maskz_loadu_ps, _mm_mask_storeu_ps)
#undef BLOCKSPAN_LANE_MASK

#elif defined(__AVX__) && defined(__x86_64__)

#define BLOCKSPAN_LANE_MASK(Real, Width, Integer, Signs, Native, load_masked, store_masked) \
  template <>                                                                               \
  struct LaneMask<Real, Width> {                                                            \
    using Register = typename RegistersOf<Real, Width>::type;                               \
    using Lanes = typename RegistersOf<Integer, Width>::type;                               \
    Lanes lanes = {};                                                                       \
    static LaneMask first(int count) {                                                      \
      LaneMask mask;                                                                        \
      for (int j = 0; j < Width; ++j) mask.lanes[j] = j < count ? -1 : 0;                   \
      return mask;                                                                          \
    }                                                                                       \
    BLOCKSPAN_HOST_INLINE Register load(Real const* from) const {                           \
      return (Register)load_masked(from, (Signs)lanes);                                     \
    }                                                                                       \
    BLOCKSPAN_HOST_INLINE void store(Real* to, Register const& from) const {                \
      store_masked(to, (Signs)lanes, (Native)from);                                         \
    }                                                                                       \
  };
BLOCKSPAN_LANE_MASK(double, 4, long long, __m256i, __m256d, _mm256_maskload_pd, _mm256_maskstore_pd)
BLOCKSPAN_LANE_MASK(float, 8, int, __m256i, __m256, _mm256_maskload_ps, _mm256_maskstore_ps)
BLOCKSPAN_LANE_MASK(float, 4, int, __m128i, __m128, _mm_maskload_ps, _mm_maskstore_ps)
#undef BLOCKSPAN_LANE_MASK

#endif

/// The masks of the last two registers of a row.
template <class Real, int Width>
struct LaneMasks {
  LaneMask<Real, Width> last, before;

  /// For `count` registers that hold `reals` values, of which the last two may be partly filled.
  static LaneMasks of(int reals, int count) {
    auto const in = [&](int at) { return std::clamp(reals - at * Width, 0, Width); };
    return {LaneMask<Real, Width>::first(in(count - 1)),
            LaneMask<Real, Width>::first(count > 1 ? in(count - 2) : 0)};
  }
};

/// `Count` registers of `Width` reals; the last `Masked` of them, at most two, are masked. Nested
/// for the same reason as RegisterSet.
template <class Real, int Width, int Count, int Masked>
struct RowRegisters {
  using Register = typename RegistersOf<Real, Width>::type;
  using Masks = LaneMasks<Real, Width>;
  static constexpr bool is_masked = Count <= Masked;

  Register first = {};
  RowRegisters<Real, Width, Count - 1, std::min(Masked, Count - 1)> others;

  BLOCKSPAN_HOST_INLINE static LaneMask<Real, Width> const& own(Masks const& masks) {
    static_assert(Count <= 2);
    if constexpr (Count == 1)
      return masks.last;
    else
      return masks.before;
  }

  BLOCKSPAN_HOST_INLINE void load(Real const* from, [[maybe_unused]] Masks const& masks) {
    if constexpr (is_masked)
      first = own(masks).load(from);
    else
      std::memcpy(&first, from, sizeof(Register));
    others.load(from + Width, masks);
  }
  BLOCKSPAN_HOST_INLINE void store(Real* to, [[maybe_unused]] Masks const& masks) const {
    if constexpr (is_masked)
      own(masks).store(to, first);
    else
      std::memcpy(to, &first, sizeof(Register));
    others.store(to + Width, masks);
  }
  /// Stores all values, also the masked ones.
  BLOCKSPAN_HOST_INLINE void store_whole(Real* to) const {
    std::memcpy(to, &first, sizeof(Register));
    others.store_whole(to + Width);
  }
  BLOCKSPAN_HOST_INLINE void add_product(Real a, RowRegisters const& b) {
    first += a * b.first;
    others.add_product(a, b.others);
  }
  BLOCKSPAN_HOST_INLINE void add(RowRegisters const& b) {
    first += b.first;
    others.add(b.others);
  }
  BLOCKSPAN_HOST_INLINE void scale(Real a) {
    first *= a;
    others.scale(a);
  }
};
template <class Real, int Width, int Masked>
struct RowRegisters<Real, Width, 0, Masked> {
  using Masks = LaneMasks<Real, Width>;
  BLOCKSPAN_HOST_INLINE void load(Real const*, Masks const&) {}
  BLOCKSPAN_HOST_INLINE void store(Real*, Masks const&) const {}
  BLOCKSPAN_HOST_INLINE void store_whole(Real*) const {}
  BLOCKSPAN_HOST_INLINE void add_product(Real, RowRegisters const&) {}
  BLOCKSPAN_HOST_INLINE void add(RowRegisters const&) {}
  BLOCKSPAN_HOST_INLINE void scale(Real) {}
};

/// A RegisterSet with the interface of RowRegisters: registers of decreasing width, none masked.
template <class Real, int Reals>
struct MixedRegisters : RegisterSet<Real, Reals> {
  using Set = RegisterSet<Real, Reals>;
  using Masks = LaneMasks<Real, 1>;

  BLOCKSPAN_HOST_INLINE void load(Real const* from, Masks const&) { Set::load(from); }
  BLOCKSPAN_HOST_INLINE void store(Real* to, Masks const&) const { Set::store(to); }
  BLOCKSPAN_HOST_INLINE void store_whole(Real* to) const { Set::store(to); }
};

/// `Count` registers of `Width` reals, the last `Masked` of which may be partly filled.
template <int Width_, int Count_, int Masked_>
struct RowPack {
  static constexpr int Width = Width_, Count = Count_, Masked = Masked_, reals = Width * Count;
};
/// `Reals` values in registers of decreasing width.
template <int Reals>
struct MixedRowPack {
  static constexpr int Width = 1, Count = Reals, Masked = 0, reals = Reals;
};

/// Whether 5 to 7 values are held in registers of 4, 2 and 1: masked loads of AVX are slower than
/// that (one core of a Xeon, double, 5 and 6 columns: 0.8 of the speed).
template <class Real>
inline constexpr bool mixes_widths_v = register_bytes == 32 && sizeof(Real) == 8;

/// Calls function(pack) for rows of 1 <= reals < Most registers. Rows shorter than a register use
/// the smallest register that holds them.
template <class Real, int Most, class Function, int Width = 2>
void with_row_pack(int reals, Function const& function) {
  constexpr int widest = register_bytes / int(sizeof(Real));
  if (reals == Width) return function(RowPack<Width, 1, 0>{});
  if (reals < Width) return function(RowPack<Width, 1, 1>{});
  if constexpr (Width < widest) {
    with_row_pack<Real, Most, Function, 2 * Width>(reals, function);
  } else {
    if (reals == 2 * widest) return function(RowPack<widest, 2, 0>{});
    if constexpr (mixes_widths_v<Real>) {
      if (reals == 5) return function(MixedRowPack<5>{});
      if (reals == 6) return function(MixedRowPack<6>{});
      if (reals == 7) return function(MixedRowPack<7>{});
    }
    // common widths that fill registers of decreasing width: no masks, no padding
    if (reals == 12) return function(MixedRowPack<12>{});
    if (reals == 20) return function(MixedRowPack<20>{});
    if (reals == 24) return function(MixedRowPack<24>{});
    if (reals < 2 * widest) return function(RowPack<widest, 2, 1>{});
    if (reals <= 3 * widest) return function(RowPack<widest, 3, 1>{});
    if constexpr (Most > 4) {
      if (reals == 4 * widest) return function(RowPack<widest, 4, 0>{});
      if (reals < 4 * widest) return function(RowPack<widest, 4, 1>{});
      if (reals <= 6 * widest) return function(RowPack<widest, 6, 2>{});
      return function(RowPack<widest, 8, 2>{});
    } else {
      return function(RowPack<widest, 4, 1>{});
    }
  }
}

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::support
