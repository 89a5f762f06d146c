#pragma once

#include <blockspan/published/kernels/dense_product.hpp>
#include <blockspan/published/menu/launch_published.hpp>
#include <blockspan/published/menu/menu.hpp>
#include <blockspan/spmm/launch/kernel_table.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan::published {

/// Registers the launch functions of all published kernels for these types.
template <class Exec, class Scalar, class Ordinal>
void register_published_kernels() {
  using Call = SpmmCall<Exec, Scalar, Ordinal>;
  using Plan = PlanState<Exec, Ordinal>;
  auto& table = kernel_table<Exec, Scalar, Ordinal>();
  auto const tiles = [](Call const& call, Plan&) {
    with_width(call, [](auto const& launch) { launch.direct(); });
  };
  auto const staged = [](Call const& call, Plan&) {
    with_width(call, [](auto const& launch) { launch.staged(); });
  };
  table.add(published::thread_per_row, [](Call const& c, Plan&) { launch_items<false>(c); });
  table.add(published::thread_per_element, [](Call const& c, Plan&) { launch_items<true>(c); });
  table.add(published::staged_single_columns, staged);
  table.add(published::staged_rows, staged);
  table.add(published::row_split, [](Call const& call, Plan&) {
    with_width(call, [](auto const& launch) { launch.broadcast(); });
  });
  table.add(published::merge, tiles);
  table.add(published::balanced, tiles);
  table.add(published::prefix_sum,
            [](Call const& call, Plan&) { PublishedLaunch<Call, 1>{call}.prefix_sum(); });
  table.add(published::dense, multiply_dense<Exec, Scalar, Ordinal>);
  table.add(spmm_variant(SpmmKernelId::shared_tiles), [](Call const& call, Plan&) {
    with_width(call, [](auto const& launch) { launch.staged_tile(); });
  });
}

}  // namespace blockspan::published
