#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/registers/sixteen_bit.hpp>

#ifndef BLOCKSPAN_LIBRARY_UNIT
#include <blockspan/spmm/compiled_types.hpp>
#endif

namespace blockspan::products {

// The library's own units do not read the lists: they are what is compiled, and the same, for a
// compiler cache too, whatever other scalars a build has.
#ifdef BLOCKSPAN_LIBRARY_UNIT
template <class Exec, class Offset, class Ordinal>
inline constexpr bool pattern_is_compiled_v = true;
template <class Scalar>
inline constexpr bool scalar_is_compiled_v = true;
template <class Storage>
inline constexpr bool storage_is_compiled_v = true;
#else
template <class Exec, class Offset, class Ordinal>
inline constexpr bool pattern_is_compiled_v =
    contains_v<Exec, SpmmBackends>&& contains_v<Offset, SpmmOffsets>&& std::is_same_v<Ordinal, int>;
template <class Scalar>
inline constexpr bool scalar_is_compiled_v = contains_v<Scalar, SpmmScalars>;
template <class Storage>
inline constexpr bool storage_is_compiled_v = contains_v<Storage, SpmmStorageScalars>;
#endif

/// What a plan holds (prepared/row_panels.hpp): opaque to users of the public headers.
template <class Exec, class Ordinal>
struct PlanPanels;

/// Completed by <blockspan/spmm/header_only.hpp>.
template <class Exec>
struct HeaderOnlySpmm;
template <class T, class = void>
inline constexpr bool is_complete_v = false;
template <class T>
inline constexpr bool is_complete_v<T, std::void_t<decltype(sizeof(T))>> = true;

template <class Exec, class Offset, class Ordinal>
constexpr void require_compiled_pattern() {
  static_assert(pattern_is_compiled_v<Exec, Offset, Ordinal> || is_complete_v<HeaderOnlySpmm<Exec>>,
                "the library has no SpMM compiled for this backend, offset and ordinal type: "
                "include <blockspan/spmm/header_only.hpp> first, and it is compiled here");
}

template <class Exec, class Scalar, class Offset, class Ordinal>
constexpr void require_compiled_product() {
  static_assert((pattern_is_compiled_v<Exec, Offset, Ordinal> && scalar_is_compiled_v<Scalar>) ||
                    is_complete_v<HeaderOnlySpmm<Exec>>,
                "the library has no SpMM compiled for this backend, scalar, offset and ordinal "
                "type: include <blockspan/spmm/header_only.hpp> first, and it is compiled here");
}

/// The same for functions that support 16-bit scalars too.
template <class Exec, class Storage, class Offset, class Ordinal>
constexpr void require_compiled_values() {
  if constexpr (!storage_is_compiled_v<Storage> || !pattern_is_compiled_v<Exec, Offset, Ordinal>)
    require_compiled_product<Exec, Storage, Offset, Ordinal>();
}

}  // namespace blockspan::products
