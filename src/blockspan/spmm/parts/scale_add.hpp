#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/scalar.hpp>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#define BLOCKSPAN_HAS_STREAM_STORES
#endif

namespace blockspan::products {

/// Stores that go around the caches, a whole cache line at a time: the line is not read before it
/// is written. For results too large to stay in a cache. Host only; where the processor has none,
/// can_stream_v is false and nothing calls them.
inline constexpr std::size_t cache_line = 64;

#ifdef BLOCKSPAN_HAS_STREAM_STORES

template <std::size_t Bytes>
inline constexpr bool can_stream_v = Bytes % cache_line == 0;

template <class T>
inline void stream_store_on_host(void* to, T const& value) {
  static_assert(can_stream_v<sizeof(T)>);
  __m128i words[sizeof(T) / sizeof(__m128i)];
  std::memcpy(words, &value, sizeof(T));
  for (std::size_t i = 0; i < sizeof(T) / sizeof(__m128i); ++i)
    _mm_stream_si128(static_cast<__m128i*>(to) + i, words[i]);
}

/// These stores are weakly ordered: call this before another thread may read.
inline void finish_stream_stores_on_host() { _mm_sfence(); }

#else

template <std::size_t Bytes>
inline constexpr bool can_stream_v = false;
template <class T>
inline void stream_store_on_host(void*, T const&) {}
inline void finish_stream_stores_on_host() {}

#endif

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void stream_store(void* to, T const& value) {
  KOKKOS_IF_ON_HOST((stream_store_on_host(to, value);))
  KOKKOS_IF_ON_DEVICE(((void)to; (void)value;))
}
KOKKOS_FORCEINLINE_FUNCTION void finish_stream_stores() {
  KOKKOS_IF_ON_HOST((finish_stream_stores_on_host();))
}

KOKKOS_FORCEINLINE_FUNCTION bool is_line_aligned(void const* address) {
  return reinterpret_cast<std::uintptr_t>(address) % cache_line == 0;
}

/// y = alpha * sum + beta * y, and y = alpha * sum without reading y where beta is zero. The only
/// code that writes Y; sees each row once, finished. Contiguous: rows of Y are, and vectors
/// aligned. Masked: sums come in vectors, but Y may be of any strides, and not whole vectors wide.
template <class Scalar, bool Contiguous, bool OnHost, bool Masked = false>
struct ScaleAdd {
  Scalar alpha;
  Scalar beta;
  bool overwrite;  ///< beta is zero
  bool stream;     ///< hosts: Y is too large for the caches
  BlockRef<Scalar> Y;
  bool vectors_fit = false;  ///< Masked: Y is whole vectors

  /// What writes the rows of a team: here nothing is kept. On hosts a copy, because a row that is
  /// written might be alpha or beta for all the compiler knows, which would be read again for every
  /// row.
  using OfTeam = std::conditional_t<OnHost, ScaleAdd, ScaleAdd const&>;
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION OfTeam of_team(Team const&) const {
    return *this;
  }
  /// Of a team.
  static constexpr std::size_t scratch_bytes(int) { return 0; }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    Scalar* const y = Y.data + row * Y.row_stride;
    if constexpr (Masked && Width > 1)
      if (!vectors_fit) return store_masked<Width>(y + column * Y.column_stride, column, sum);
    if constexpr (Contiguous && Width > 1)
      store_vector<Width>(y + column, sum);
    else if constexpr (Contiguous && !Masked)
      write_contiguous<Width>(y + column, sum);
    else if (Y.column_stride == 1)
      write_contiguous<Width>(y + column, sum);
    else if constexpr (OnHost && Width > 1)
      write_strided<Width>(y + column * Y.column_stride, sum);
    else
      write<Width>(y + column * Y.column_stride, Y.column_stride, sum);
  }

  /// The i-th row of a segment that begins with `row`; which of a lane's vectors it is does not
  /// matter.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int i, std::int64_t column,
                                              Sum<Scalar, Width> const& sum, int) const {
    (*this)(row + i, column, sum);
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void finish_cut_row(std::int64_t, std::int64_t row,
                                                  std::int64_t column,
                                                  Sum<Scalar, Width> const& sum) const {
    (*this)(row, column, sum);
  }

  /// After the last row of a team.
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {
    if constexpr (OnHost)
      if (overwrite && stream) finish_stream_stores();
  }

 private:
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void store_masked(Scalar* y, std::int64_t column,
                                                Sum<Scalar, Width> const& sum) const {
    BLOCKSPAN_UNROLL
    for (int j = 0; j < Width; ++j)
      if (column + j < Y.columns) write<1>(y + j * Y.column_stride, 1, {{sum.value[j]}});
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void store_vector(Scalar* y, Sum<Scalar, Width> const& sum) const {
    using P = Vector<Scalar, Width>;
    P vector{};
    if (!overwrite) vector = *reinterpret_cast<P const*>(y);
    for (int j = 0; j < Width; ++j)
      vector.value[j] =
          overwrite ? alpha * sum.value[j] : alpha * sum.value[j] + beta * vector.value[j];
    *reinterpret_cast<P*>(y) = vector;
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write_contiguous(Scalar* y,
                                                    Sum<Scalar, Width> const& sum) const {
    if constexpr (OnHost && can_stream_v<sizeof(Scalar) * Width>) {
      if (overwrite && stream && is_line_aligned(y)) {
        Sum<Scalar, Width> scaled;
        for (int j = 0; j < Width; ++j) scaled.value[j] = alpha * sum.value[j];
        stream_store(y, scaled);
        return;
      }
    }
    write<Width>(y, 1, sum);
  }

  /// GCC 12 would split the sums into scalars.
  template <int Width>
  BLOCKSPAN_HOST_INLINE void write_registers(Scalar* y, Sum<Scalar, Width> const& sum) const {
    RegisterSet<Scalar, Width> result;
    result.load(sum.value);
    result.scale(alpha);
    if (!overwrite) {
      RegisterSet<Scalar, Width> old;
      old.load(y);
      result.add_product(beta, old);
    }
    result.store(y);
  }

  /// Hosts: out of the way of contiguous rows, which need the registers.
  template <int Width>
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void write_strided(Scalar* y,
                                                        Sum<Scalar, Width> const& sum) const {
    write<Width>(y, Y.column_stride, sum);
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write(Scalar* y, std::int64_t stride,
                                         Sum<Scalar, Width> const& sum) const {
    if constexpr (OnHost && !is_complex_v<Scalar> && Width > 1) {
      if (stride == 1) {
        KOKKOS_IF_ON_HOST((write_registers<Width>(y, sum);))
        return;
      }
    }
    if (overwrite)
      for (int j = 0; j < Width; ++j) y[j * stride] = alpha * sum.value[j];
    else
      for (int j = 0; j < Width; ++j) y[j * stride] = alpha * sum.value[j] + beta * y[j * stride];
  }
};

}  // namespace blockspan::products
