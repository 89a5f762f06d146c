#pragma once

#include <cstdint>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {

/// Values and blocks of 16 bits have kernels for whole rows and segments alone, with a vector or a
/// single column a lane (sixteen_bit_rows.hpp). Without launches: another kernel must run.
inline Decision decide_sixteen_bit(SpmmChoice const& choice, BlockFacts const& blocks,
                                   DeviceFacts const& device) {
  auto const& chosen = *choice.variant;
  bool const listed =
      chosen.kernel == SpmmKernelId::segments || chosen.kernel == SpmmKernelId::segments_sorted;
  auto const& variant = listed ? chosen : spmm_variant(SpmmKernelId::rows);
  if (blocks.must_run && &variant != &chosen) return {};
  Launch launch;
  launch.variant = &variant;
  launch.columns = blocks.columns;
  launch.vectorized = blocks.x.vectors;
  std::int64_t const length =
      tuning::device_vector_bytes / static_cast<std::int64_t>(blocks.scalar.bytes);
  std::int64_t const vectors = launch.vectorized ? blocks.columns / length : blocks.columns;
  if (!device.is_host)
    launch.lanes.grid.column_bits = bits_to_hold(vectors, tuning::device_lane_bits);
  return {.launches = {launch}};
}

}  // namespace blockspan::products
