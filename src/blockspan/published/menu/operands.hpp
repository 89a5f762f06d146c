#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::published {

/// Plain or permuted entries, distinguished at run time: for kernels that are compiled once for
/// both.
template <class Scalar, class Ordinal>
struct AnyEntries {
  Ordinal const* columns;
  int const* permutation;  ///< null: values are stored in the order of the columns
  Scalar const* values;
  bool conjugate_values;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int k) const { return load(columns + k); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k, int row_at = 0) const {
    int const place = k + row_at;
    return conjugate_if(
        conjugate_values,
        load(values + (permutation == nullptr ? place : load(permutation + place))));
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(int, int = 0) const {}
};

/// Vectors of `Width` adjacent columns of X. Wide: a vector is one 16-byte load; X is row-major and
/// aligned. Otherwise, with Width > 1, the rows of X are contiguous; with Width 1 X may have any
/// strides.
template <class Scalar, int Width, bool Wide>
struct VectorAccess {
  BlockRef<Scalar const> X;

  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Vector<Scalar, Width> operator()(Ordinal row, int vector) const {
    Scalar const* const from = X.data + static_cast<std::int64_t>(row) * X.row_stride +
                               std::int64_t{vector} * Width * X.column_stride;
    if constexpr (Wide) {
      return load(reinterpret_cast<Vector<Scalar, Width> const*>(from));
    } else {
      Vector<Scalar, Width> vector_of;
      for (int j = 0; j < Width; ++j) vector_of.value[j] = from[j];
      return vector_of;
    }
  }

  /// sum += a * X(row, vector)
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Scalar const& a, Ordinal row, int vector,
                                               Sum<Scalar, Width>& sum) const {
    auto const x = (*this)(row, vector);
    for (int j = 0; j < Width; ++j) sum.value[j] += a * x.value[j];
  }
};

}  // namespace blockspan::published
