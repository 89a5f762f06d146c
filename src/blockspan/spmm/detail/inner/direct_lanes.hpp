#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Direct loads, for devices: the vector lanes of a team thread stand side by side over the columns
/// of X, each owns `Width` of them, and all walk the same nonzeros. A lane issues the loads of
/// `device_depth` nonzeros before it uses the first. The sum of a column runs through the nonzeros
/// in their order, whatever the launch shape.
///
/// Packed: a lane's columns are one 16-byte pack; X is row-major, aligned, a whole number of packs
/// wide. Otherwise Width is 1 and X may have any strides.
template <class Scalar, class Entries, class Offset, int Width, bool Packed>
struct DirectLanes {
  static_assert(Packed || Width == 1, "lanes without packs own single columns");

  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_pack(Team const& team, Function const& function) const {
    int const packs = static_cast<int>(X.columns / Width);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, packs), [&](int pack) {
      function(std::int64_t{pack} * Width, std::integral_constant<int, Width>{});
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION Pack<Scalar, Width> fetch(Scalar const* x, std::int64_t row) const {
    using P = Pack<Scalar, Width>;
    if constexpr (Packed)
      return load(reinterpret_cast<P const*>(x + row * X.row_stride));
    else
      return P{{load(x + row * X.row_stride)}};
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Offset k) const {
    Scalar const a = entries.value(k);
    if constexpr (is_complex_v<Scalar>)
      return conjugate_values ? conjugate(a) : a;
    else
      return a;
  }

  template <class Piece, int N>
  KOKKOS_FORCEINLINE_FUNCTION Sum<Scalar, Width> multiply(Piece const& piece, std::int64_t first,
                                                          std::integral_constant<int, N>) const {
    constexpr int depth = tuning::device_depth;
    Scalar const* const x = X.data + first * X.column_stride;
    Sum<Scalar, Width> sum{};
    Offset k = piece.first;
    for (; piece.last - k >= Offset(depth); k += Offset(depth)) {
      Scalar a[depth];
      Pack<Scalar, Width> b[depth];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u) {
        b[u] = fetch(x, static_cast<std::int64_t>(entries.column(k + Offset(u))));
        a[u] = value(k + Offset(u));
      }
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u) add(sum, a[u], b[u]);
    }
    for (; k < piece.last; ++k)
      add(sum, value(k), fetch(x, static_cast<std::int64_t>(entries.column(k))));
    return sum;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add(Sum<Scalar, Width>& sum, Scalar const& a,
                                              Pack<Scalar, Width> const& b) {
    BLOCKSPAN_UNROLL
    for (int j = 0; j < Width; ++j) sum.value[j] += a * b.value[j];
  }
};

}  // namespace blockspan::detail
