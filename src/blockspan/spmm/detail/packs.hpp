#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/matrix_ref.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Columns in a lane's pack.
template <class Scalar>
inline constexpr int device_pack_v = tuning::device_pack_bytes / int(sizeof(Scalar));
template <class Scalar>
inline constexpr int host_pack_v = tuning::host_pack_bytes / int(sizeof(Scalar)) /
                                   (is_complex_v<Scalar> ? 2 : 1);

/// Devices: whether the rows of a block begin where packs do, and are contiguous.
template <class Scalar>
bool rows_are_aligned(BlockRef<Scalar> const& B) {
  return B.column_stride == 1 && B.row_stride % device_pack_v<std::remove_const_t<Scalar>> == 0 &&
         reinterpret_cast<std::uintptr_t>(B.data) % tuning::device_pack_bytes == 0;
}

/// ... and are whole packs.
template <class Scalar>
bool rows_are_packs(BlockRef<Scalar> const& B) {
  return B.columns % device_pack_v<std::remove_const_t<Scalar>> == 0 && rows_are_aligned(B);
}

/// What of that X and Y have; hosts: all, packs fit everything there.
struct BlockFit {
  bool packs_of_x;
  bool packs;         ///< of both
  bool contiguous_x;  ///< its rows

  bool has_packs_for(SpmmVariant const& variant) const {
    return variant.writes_any() ? packs_of_x : packs;
  }
  bool serves(SpmmVariant const& variant) const {
    return variant.needs_whole_packs ? has_packs_for(variant)
                                     : contiguous_x || !variant.needs_contiguous_x();
  }
};
template <class Exec, class Scalar>
BlockFit fit_of(BlockRef<Scalar const> const& X, BlockRef<Scalar> const& Y) {
  if constexpr (runs_on_host_v<Exec>) return {true, true, true};
  bool const packs_of_x = rows_are_packs(X);
  return {packs_of_x, packs_of_x && rows_are_packs(Y), X.column_stride == 1};
}

}  // namespace blockspan::detail
