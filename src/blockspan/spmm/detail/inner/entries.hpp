#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// How an inner reads the matrix: the entries in the order in which they are stored ...
template <class Scalar, class Offset, class Ordinal>
struct PlainEntries {
  Ordinal const* columns;
  Scalar const* values;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(Offset k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k) const { return load(values + k); }
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

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(Offset k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k) const {
    return load(values + load(permutation + k));
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

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(Offset k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k) const {
    Scalar const a = load(values + (permutation == nullptr ? k : load(permutation + k)));
    if constexpr (is_complex_v<Scalar>) return conjugate_values ? conjugate(a) : a;
    return a;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Offset) const {}
};

}  // namespace blockspan::detail
