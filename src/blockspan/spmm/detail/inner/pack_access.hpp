#pragma once

#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>

namespace blockspan::detail {

/// Packs of `Width` neighbouring columns of X. Wide: a pack is one 16-byte load; X is row-major and
/// aligned. Otherwise, with Width > 1, the rows of X are contiguous; with Width 1 X may have any
/// strides.
template <class Scalar, int Width, bool Wide>
struct PackAccess {
  BlockRef<Scalar const> X;

  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Pack<Scalar, Width> operator()(Ordinal row, int pack) const {
    Scalar const* const from = X.data + static_cast<std::int64_t>(row) * X.row_stride +
                               std::int64_t{pack} * Width * X.column_stride;
    if constexpr (Wide) {
      return load(reinterpret_cast<Pack<Scalar, Width> const*>(from));
    } else {
      Pack<Scalar, Width> pack_of;
      for (int j = 0; j < Width; ++j) pack_of.value[j] = from[j];
      return pack_of;
    }
  }

  /// sum += a * X(row, pack)
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Scalar const& a, Ordinal row, int pack,
                                               Sum<Scalar, Width>& sum) const {
    auto const x = (*this)(row, pack);
    for (int j = 0; j < Width; ++j) sum.value[j] += a * x.value[j];
  }
};

}  // namespace blockspan::detail
