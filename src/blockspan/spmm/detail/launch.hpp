#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/direct_registers.hpp>
#include <blockspan/spmm/detail/inner/one_column.hpp>
#include <blockspan/spmm/detail/item_kernels.hpp>
#include <blockspan/spmm/detail/launch_lanes.hpp>
#include <blockspan/spmm/detail/launch_schedule.hpp>
#include <blockspan/spmm/detail/sparse_rows.hpp>

namespace blockspan::detail {

template <class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_items(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                  Entries const& entries) {
  auto const& product = call.product;
  auto const epilogue = make_epilogue<Exec, Scalar, false>(product);
  using Kernel = ItemKernel<Exec, Scalar, Offset, Entries, std::remove_const_t<decltype(epilogue)>>;
  Kernel const kernel{call.prepared.pattern.row_offsets, entries, product.X, conjugates(product.op),
                      epilogue};
  if (call.variant.worker == SpmmWorker::row_item)
    kernel.template launch<typename Kernel::Row>(exec, call.variant.label, product.Y.rows);
  else
    kernel.template launch<typename Kernel::Element>(exec, call.variant.label,
                                                     product.Y.rows * product.Y.columns);
}

/// Hosts: before which entry rows of X are asked for; before none where X stays in the caches.
template <class Exec, class Scalar, class Offset, class Ordinal>
Offset rows_asked_until(SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& X = call.product.X;
  std::int64_t const entries = call.prepared.statistics.nonzeros;
  bool const is_large =
      X.rows * X.columns * std::int64_t{sizeof(Scalar)} >= tuning::host_asked_block;
  return static_cast<Offset>(is_large ? std::max(entries - tuning::host_rows_ahead, std::int64_t{0})
                                      : 0);
}

template <class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_inner(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                  Entries const& entries) {
  auto const worker = call.variant.worker;
  if (worker == SpmmWorker::row_item || worker == SpmmWorker::element_item)
    return launch_items(exec, call, entries);
  auto const& X = call.product.X;
  bool const conjugate_values = conjugates(call.product.op);
  if constexpr (runs_on_host_v<Exec>) {
    auto const run = [&]<class Inner>(Inner const& inner) {
      launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, false>(exec, call, inner, 1);
    };
    auto const in_registers = [&]<int Widest, bool Unit>() {
      run(DirectRegisters<Scalar, Entries, Offset, Widest, Unit>{entries, X, conjugate_values,
                                                                 rows_asked_until(call)});
    };
    // one column has no choice among packs
    if constexpr (!is_complex_v<Scalar>)
      if (X.columns == 1 && X.row_stride == 1)
        return run(OneColumn<Scalar, Entries>{entries, X.data});
    if (!call.packs || X.columns == 1) return in_registers.template operator()<1, false>();
    if (X.column_stride == 1) return in_registers.template operator()<host_pack_v<Scalar>, true>();
    in_registers.template operator()<tuning::host_strided_columns, false>();
  } else {
    launch_lanes<Exec, Scalar, Offset, Ordinal, Entries>(exec, call, entries);
  }
}

/// Tiles, staged loads, whole teams. Defined in launch_published.hpp, compiled on its own.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_published(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call);

/// Groups of rows. Defined in launch_groups.hpp, compiled on its own.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_groups(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call);

/// Windows of rows. Defined in launch_windows.hpp, compiled on its own.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_windows(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call);

/// Devices: whether staged tiles of X run as SharedTiles or SharedWindows.
template <class Exec, class Scalar, class Offset, class Ordinal>
bool suit_shared_tiles(PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                       Product<Scalar> const& product) {
  bool const as_they_stand =
      prepared.permutation == nullptr && !(is_complex_v<Scalar> && conjugates(product.op));
  std::int64_t const bytes = product.X.columns * std::int64_t{sizeof(Scalar)};
  bool const by_windows =
      std::is_same_v<real_t<Scalar>, double> && prepared.windows_share_tiles(bytes);
  return as_they_stand &&
         (by_windows || rows_share_tiles<Exec>(prepared.statistics, bytes, sizeof(Scalar)));
}

/// Whether the variant chosen takes this product; of staged tiles, whether it is any use.
template <class Exec, class Scalar, class Offset, class Ordinal>
bool is_taken(PreparedPattern<Exec, Offset, Ordinal> const& prepared, BlockFit const& fit,
              Product<Scalar> const& product) {
  auto const& choice = prepared.choice;
  return is_offered<Exec, real_t<Scalar>>(*choice.variant) &&
         (choice.asked || !choice.variant->stages_tiles() ||
          (fit.packs && suit_shared_tiles(prepared, product)));
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& prepared = call.prepared;
  if constexpr (tensor::available<Exec, real_t<Scalar>>)
    if (call.variant.lists_windows()) return launch_windows(exec, call);
  if (call.variant.lists_groups())
    launch_groups(exec, call);
  else if (!call.variant.is_direct())
    launch_published(exec, call);
  else if (prepared.permutation != nullptr)
    launch_inner(exec, call, permuted_entries(call));
  else if (call.variant.lists_pieces())
    with_plain_entries(call, [&](auto const& entries) {
      if constexpr (lanes_exchange_v<Exec>)
        if (prepared.fills_beside(call.variant, call.packs))
          return launch_sparse_rows(exec, call, entries);
      launch_inner(exec, call, entries);
    });
  else
    with_entries_of_rows(call, call.product.X.columns,
                         [&](auto const& entries) { launch_inner(exec, call, entries); });
}

}  // namespace blockspan::detail
