#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/tensor_tiles.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/kernels/row_windows.hpp>
#include <blockspan/spmm/kernels/window_tiles.hpp>

namespace blockspan::detail {

/// Groups of packs in a pass: a pass costs about as much as a group of columns, whatever its width.
inline int groups_of_pass(std::int64_t packs, int most) {
  auto const groups = ceil_div(packs, std::int64_t{8});
  auto const cost = [&](int each) { return ceil_div(groups, std::int64_t{each}) * (1 + each); };
  int best = 1;
  for (int each = 2; each <= most; each *= 2)
    if (cost(each) < cost(best)) best = each;
  return best;
}

template <class Columns, class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_window_columns(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                           Entries const& entries) {
  auto const& [prepared, values, carry, launch, product] = call;
  auto const& variant = call.variant();
  auto const& list = prepared.windows;
  auto const passes =
      static_cast<int>(ceil_div(product.X.columns, std::int64_t{Columns::packs} * Columns::width));
  PieceOfThread share{list.count.windows, 1};
  auto shape = launch_shape<Exec>(variant.worker, tensor::lanes, prepared.statistics, share);
  shape.teams *= passes;
  auto const epilogue = make_epilogue<Exec, Scalar, true, true>(product);
  using Epilogue = std::remove_const_t<decltype(epilogue)>;
  using Inner = WindowTiles<Scalar, Entries, Offset, Ordinal, Columns>;
  using Schedule = RowWindows;
  SpmmKernel<Exec, Schedule, Inner, Epilogue>{
      {static_cast<int>(list.count.windows), passes, static_cast<int>(prepared.pattern.rows),
       list.first_tile.data()},
      {entries, product.X, conjugates(product.op), device_row_bytes(product.X),
       prepared.pattern.row_offsets, list.first_column.data(), list.distance.data(),
       list.masks.data()},
      epilogue}
      .launch(exec, variant.label, shape);
}

/// As many columns a pass as suit the product, single ones where packs do not fit; AllWidths false:
/// one kernel for all packs.
template <bool AllWidths, class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_windows_with(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                         Entries const& entries) {
  auto const launch = [&]<class Columns>() { launch_window_columns<Columns>(exec, call, entries); };
  if constexpr (is_complex_v<Scalar>) {  // a complex number is a pack
    // four groups of complex columns: sums and values need more registers than there are
    if constexpr (AllWidths)
      if (groups_of_pass(call.product.X.columns, 2) == 2)
        return launch.template operator()<WindowPacks<Scalar, 2>>();
    launch.template operator()<WindowPacks<Scalar, 1>>();
  } else {
    std::int64_t const columns = call.product.X.columns;
    if constexpr (AllWidths) {
      if (!call.launch.packs && columns <= 8)
        return launch.template operator()<WindowColumns<1, 1>>();
      if (!call.launch.packs && columns > 32)
        return launch.template operator()<WindowColumns<8, 1>>();
      if (!call.launch.packs && columns > 16)
        return launch.template operator()<WindowColumns<4, 1>>();
    }
    if (!call.launch.packs) return launch.template operator()<WindowColumns<2, 1>>();
    if constexpr (AllWidths) {
      if (columns <= 8) return launch.template operator()<WindowColumns<1, 2>>();
      int const groups = groups_of_pass(columns / device_pack_v<Scalar>, 4);
      if (groups == 4) return launch.template operator()<WindowPacks<Scalar, 4>>();
      if (groups == 2) return launch.template operator()<WindowPacks<Scalar, 2>>();
    }
    launch.template operator()<WindowColumns<2, 2>>();
  }
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_windows(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  if constexpr (tensor::available<Exec, real_t<Scalar>>) {
    auto const& pattern = call.prepared.pattern;
    if (call.prepared.permutation == nullptr)
      with_plain_entries(
          call, [&](auto const& entries) { launch_windows_with<true>(exec, call, entries); });
    else
      launch_windows_with<false>(exec, call, permuted_entries(call));
  }
}

}  // namespace blockspan::detail
