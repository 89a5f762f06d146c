#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#define BLOCKSPAN_HAS_STREAM_STORES
#endif

namespace blockspan::detail {

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

/// These stores are not in order with others: before another thread may look, this.
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

}  // namespace blockspan::detail
