#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/group_registers.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/detail/schedule/row_groups.hpp>

namespace blockspan::detail {

/// Hosts: columns of a pack of a group's sums.
template <class Scalar>
inline constexpr int host_group_pack_v = tuning::host_group_pack_bytes / int(sizeof(Scalar)) /
                                         (is_complex_v<Scalar> ? 2 : 1);

/// A product whose pieces are groups of rows, with the parts that differ given: what a group is
/// (Schedule, its share not yet set) and how its entries are read.
template <class Exec, class Scalar, class Offset, class Schedule, class Entries>
struct GroupLaunch {
  Exec const& exec;
  char const* label;
  Product<Scalar> const& product;
  bool packs;  ///< as in SpmmCall
  Schedule schedule;
  Entries entries;
  bool conjugate_values;
  RowStatistics const& rows;

  template <class Inner, bool Packed>
  void launch(Inner const& inner, int lanes) const {
    auto const epilogue = make_epilogue<Exec, Scalar, Packed>(product);
    auto with = schedule;
    auto const shape = launch_shape<Exec>(SpmmWorker::team_thread, lanes, rows, with.share);
    SpmmKernel<Exec, Schedule, Inner, std::remove_const_t<decltype(epilogue)>>{with, inner,
                                                                               epilogue}
        .launch(exec, label, shape);
  }

  template <int MaxWidth, bool Unit>
  void on_host() const {
    using Inner = GroupRegisters<Scalar, Entries, Offset, MaxWidth, Unit>;
    launch<Inner, false>(Inner{{entries, product.X, conjugate_values}}, 1);
  }

  /// Rows: the most of a group. One kernel with lanes over the nonzeros, be it one of them.
  template <int Rows, int Width, bool Packed>
  void on_device(LaneGrid const& grid) const {
    using Inner = DirectLanes<Scalar, Entries, Offset, Width, Packed, 1, true, Rows>;
    launch<Inner, Packed>(
        Inner{entries, product.X, conjugate_values, grid, device_row_bytes(product.X)},
        grid.lanes());
  }
};

/// Hosts: packs of contiguous columns, or few strided ones.
template <class Launch, class Scalar>
void launch_groups_on_host(Launch const& launch, BlockRef<Scalar const> const& X) {
  if (X.column_stride == 1)
    launch.template on_host<host_group_pack_v<Scalar>, true>();
  else
    launch.template on_host<tuning::host_strided_columns, false>();
}

/// Devices: the kernel for groups of at most `most` rows. AllSizes: each number of rows has one of
/// its own where packs fit; otherwise the largest serves all of them.
template <bool AllSizes, class Launch, class Scalar>
void launch_groups_on_device(Launch const& launch, BlockRef<Scalar const> const& X, int most,
                             PieceStatistics const& of, SpmmLanes const& lanes, bool exchange) {
  constexpr int width = device_pack_v<Scalar>, largest = tuning::group_rows;
  std::int64_t const packs = launch.packs ? X.columns / width : X.columns;
  auto const grid = device_shape(exchange, packs, of, false, lanes).grid;
  if (!launch.packs) return launch.template on_device<largest, 1, false>(grid);
  if constexpr (AllSizes) {
    if (most <= 2) return launch.template on_device<2, width, true>(grid);
    if (most == 3) return launch.template on_device<3, width, true>(grid);
  }
  launch.template on_device<largest, width, true>(grid);
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_groups(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  auto const& product = call.product;
  using Schedule = RowGroups<Offset, Ordinal>;
  Schedule const schedule{
      {prepared.pieces(), 1}, pattern.row_offsets, prepared.groups.begin.data()};
  auto const with = [&]<class Entries>(Entries const& entries, bool conjugate_values) {
    GroupLaunch<Exec, Scalar, Offset, Schedule, Entries> const launch{exec,
                                                                      call.variant.label,
                                                                      product,
                                                                      call.packs,
                                                                      schedule,
                                                                      entries,
                                                                      conjugate_values,
                                                                      prepared.statistics};
    if constexpr (runs_on_host_v<Exec>)
      launch_groups_on_host(launch, product.X);
    else
      launch_groups_on_device<std::is_same_v<Entries, PlainEntries<Scalar, Offset, Ordinal>>>(
          launch, product.X, prepared.groups.most, prepared.piece_statistics(), prepared.lanes,
          lanes_exchange_v<Exec>);
  };
  bool const conjugated = conjugates(product.op);
  if (prepared.permutation == nullptr)
    with(PlainEntries<Scalar, Offset, Ordinal>{pattern.column_indices, call.values}, conjugated);
  else
    with(PermutedEntries<Scalar, Offset, Ordinal>{pattern.column_indices, prepared.permutation,
                                                  call.values,
                                                  static_cast<Offset>(pattern.entries - 1)},
         conjugated);
}

}  // namespace blockspan::detail
