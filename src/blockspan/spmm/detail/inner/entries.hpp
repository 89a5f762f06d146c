#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

// How an inner reads the matrix. of(piece): what the entries of a piece are read by, with the
// places k of that piece; column(k); value(k, row_at): of another row with the same columns, whose
// entries stand that far behind.

/// The entries in the order in which they are stored ...
template <class Scalar, class Offset, class Ordinal>
struct PlainEntries {
  Ordinal const* columns;
  Scalar const* values;

  template <class Piece>
  KOKKOS_FORCEINLINE_FUNCTION PlainEntries const& of(Piece const&) const {
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(Offset k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k, Offset row_at = Offset(0)) const {
    return load(values + (k + row_at));
  }
  /// Nothing to do: the processor sees the entries coming.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Offset) const {}
};

/// ... or the entries of the transposed pattern, whose k-th value is the matrix's
/// permutation[k]-th.
template <class Scalar, class Offset, class Ordinal>
struct PermutedEntries {
  Ordinal const* columns;
  Offset const* permutation;
  Scalar const* values;
  Offset last;  ///< the last entry there is

  template <class Piece>
  KOKKOS_FORCEINLINE_FUNCTION PermutedEntries const& of(Piece const&) const {
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(Offset k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k, Offset row_at = Offset(0)) const {
    return load(values + load(permutation + (k + row_at)));
  }
  /// Hosts: asks for the value that will be needed some entries after k.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Offset k) const {
    KOKKOS_IF_ON_HOST((constexpr Offset ahead = Offset(tuning::host_prefetch); __builtin_prefetch(
                           values + permutation[last - k > ahead ? k + ahead : last]);))
    KOKKOS_IF_ON_DEVICE(((void)k;))
  }
};

/// ... or either of them, found out at run time: for kernels that are compiled once for both.
template <class Scalar, class Offset, class Ordinal>
struct AnyEntries {
  Ordinal const* columns;
  Offset const* permutation;  ///< null: the values stand as the columns do
  Scalar const* values;
  bool conjugate_values;

  template <class Piece>
  KOKKOS_FORCEINLINE_FUNCTION AnyEntries const& of(Piece const&) const {
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(Offset k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k, Offset row_at = Offset(0)) const {
    Offset const place = k + row_at;
    Scalar const a = load(values + (permutation == nullptr ? place : load(permutation + place)));
    if constexpr (is_complex_v<Scalar>) return conjugate_values ? conjugate(a) : a;
    return a;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Offset) const {}
};

}  // namespace blockspan::detail
