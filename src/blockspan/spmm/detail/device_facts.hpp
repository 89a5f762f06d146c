#pragma once

#include <blockspan/multivector/detail/tensor_tiles.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/bulk_copies.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// Whether windows of rows can share tiles of X on tensor cores.
template <class Exec>
inline constexpr bool windows_share_tiles_v =
    tensor::available<Exec, double>&& bulk::available<Exec>;

/// What decisions have to know of a backend.
template <class Exec>
inline constexpr DeviceFacts device_facts_v{runs_on_host_v<Exec>, lanes_exchange_v<Exec>,
                                            tensor::available<Exec, double>, bulk::available<Exec>};

/// Whether the backend has what the variant needs, for scalars with this real type.
template <class Exec, class Real>
bool is_offered(SpmmVariant const& variant) {
  return is_offered(variant, scalar_of_bytes(sizeof(Real)), device_facts_v<Exec>);
}

}  // namespace blockspan::detail
