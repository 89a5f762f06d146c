#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/mbarrier.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/run/multiply.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/scalar.hpp>

// The facts of backends, scalars and blocks for decisions.

namespace blockspan::products {

/// Whether windows of rows can share tiles of X on tensor cores.
template <class Exec>
inline constexpr bool windows_share_tiles_v =
    tensor::available<Exec, double>&& bulk::available<Exec>;

template <class Exec>
inline constexpr DeviceFacts device_facts_v{runs_on_host_v<Exec>, lanes_exchange_v<Exec>,
                                            tensor::available<Exec, double>, bulk::available<Exec>};

/// Whether the backend has what the variant needs, for scalars with this real type.
template <class Exec, class Real>
bool is_offered(SpmmVariant const& variant) {
  return is_offered(variant, scalar_of_bytes(sizeof(Real)), device_facts_v<Exec>);
}

/// Columns in a vector: of a lane; of a host's registers.
template <class Scalar>
inline constexpr int device_vector_v = tuning::device_vector_bytes / int(sizeof(Scalar));
template <class Scalar>
inline constexpr int host_vector_v = tuning::host_vector_bytes / int(sizeof(Scalar)) /
                                     (is_complex_v<Scalar> ? 2 : 1);

/// Devices: whether the rows of a block begin where vectors do, and are contiguous.
template <class Scalar>
bool rows_are_aligned(BlockRef<Scalar> const& B) {
  return B.column_stride == 1 && B.row_stride % device_vector_v<std::remove_const_t<Scalar>> == 0 &&
         reinterpret_cast<std::uintptr_t>(B.data) % tuning::device_vector_bytes == 0;
}

/// ... and are whole vectors.
template <class Scalar>
bool rows_are_vectors(BlockRef<Scalar> const& B) {
  return B.columns % device_vector_v<std::remove_const_t<Scalar>> == 0 && rows_are_aligned(B);
}

template <class Scalar>
BlockLayout layout_of(BlockRef<Scalar> const& B) {
  return {B.column_stride == 1, B.row_stride == 1, rows_are_aligned(B), rows_are_vectors(B)};
}

/// The blocks of a product, as decisions see them.
template <class Scalar, class Storage>
BlockFacts block_facts(Product<Scalar, Storage> const& product, bool must_run) {
  auto const& [op, alpha, X, beta, Y] = product;
  auto const is_near = [](std::int64_t stride) {
    std::int64_t const bytes = stride * std::int64_t{sizeof(Storage)};
    return bytes >= 0 && bytes < std::int64_t{UINT32_MAX};
  };
  return {.columns = Y.columns,
          .scalar = scalar_kind<Storage>(),
          .x = layout_of(X),
          .y = layout_of(Y),
          .x_rows_near = is_near(X.row_stride),
          .x_columns_near = is_near(X.column_stride),
          .conjugates = conjugates(op),
          .must_run = must_run};
}

}  // namespace blockspan::products
