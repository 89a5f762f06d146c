#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/support/arithmetic.hpp>
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

template <class Scalar>
std::int64_t whole_packs_of(std::int64_t columns) {
  return ceil_div(columns, std::int64_t{device_pack_v<Scalar>}) * device_pack_v<Scalar>;
}

template <class Scalar>
BlockLayout layout_of(BlockRef<Scalar> const& B) {
  return {B.column_stride == 1, B.row_stride == 1, rows_are_aligned(B), rows_are_packs(B)};
}

}  // namespace blockspan::detail
