#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/kernels/block_entries.hpp>
#include <blockspan/spmm/kernels/block_rows.hpp>
#include <blockspan/spmm/kernels/group_registers.hpp>
#include <blockspan/spmm/kernels/row_groups.hpp>

namespace blockspan::detail {

/// Hosts: columns of a pack of a group's sums.
template <class Scalar>
inline constexpr int host_group_pack_v = tuning::host_group_pack_bytes / int(sizeof(Scalar)) /
                                         (is_complex_v<Scalar> ? 2 : 1);

/// What multiplies groups of rows, with the inner still to be made a type of.
template <class Exec, class Scalar, class Offset, class Entries, bool OnePass = false>
struct GroupInners {
  Entries entries;
  BlockRef<Scalar const> X;
  bool conjugate_values;
  bool packs;  ///< as in SpmmCall

  /// run.operator()<Packed>(inner), for groups of at most `most` rows. Devices: AllSizes: each
  /// number of rows has a kernel of its own; otherwise the largest serves all of them.
  template <bool AllSizes, class Run>
  void with(int most, LaneGrid const& grid, Run const& run) const {
    if constexpr (!runs_on_host_v<Exec>) {
      if (packs) return with_lanes<AllSizes, device_pack_v<Scalar>, true>(most, grid, run);
      with_lanes<AllSizes, 1, false>(most, grid, run);
    } else if (X.column_stride == 1) {
      with_registers<host_group_pack_v<Scalar>, true>(run);
    } else {
      with_registers<tuning::host_strided_columns, false>(run);
    }
  }

 private:
  template <int MaxWidth, bool Unit, class Run>
  void with_registers(Run const& run) const {
    using Inner = GroupRegisters<Scalar, Entries, Offset, MaxWidth, Unit>;
    run.template operator()<false>(Inner{{entries, X, conjugate_values}});
  }

  template <bool AllSizes, int Width, bool Packed, class Run>
  void with_lanes(int most, LaneGrid const& grid, Run const& run) const {
    if constexpr (AllSizes) {
      if (most <= 2) return with_rows<2, Width, Packed>(grid, run);
      if (most == 3) return with_rows<3, Width, Packed>(grid, run);
    }
    with_rows<tuning::group_rows, Width, Packed>(grid, run);
  }

  /// Always with lanes over the nonzeros, be it one of them.
  template <int Rows, int Width, bool Packed, class Run>
  void with_rows(LaneGrid const& grid, Run const& run) const {
    using Inner = DirectLanes<Scalar, Entries, Offset, Width, Packed, 1, true, Rows, OnePass>;
    run.template operator()<Packed>(Inner{entries, X, conjugate_values, grid, device_row_bytes(X)});
  }
};

/// `schedule`: its share of the groups still to be set. AllSizes: see GroupInners.
template <bool AllSizes, class Place, class Exec, class Scalar, class Offset, class Ordinal,
          class Schedule, class Entries>
void launch_groups_with(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                        Schedule schedule, Entries const& entries) {
  auto const& [prepared, values, carry, launch, product] = call;
  LaneGrid const& grid = launch.lanes.grid;
  auto const shape =
      launch_shape<Exec>(call.variant().worker, grid.lanes(), prepared.statistics, schedule.share);
  GroupInners<Exec, Scalar, Place, Entries> const inners{entries, product.X, conjugates(product.op),
                                                         launch.packs};
  auto const run = [&]<bool Packed, class Inner>(Inner const& inner) {
    auto const epilogue = make_epilogue<Exec, Scalar, Packed, writes_any_v<Inner>>(call.product);
    using Epilogue = std::remove_const_t<decltype(epilogue)>;
    SpmmKernel<Exec, Schedule, Inner, Epilogue>{schedule, inner, epilogue}.launch(
        exec, call.variant().label, shape);
  };
  inners.template with<AllSizes>(prepared.groups.most, grid, run);
}

/// The groups that a plan has found in a matrix without blocks.
template <class Exec, class Offset, class Ordinal>
RowGroups<Offset, Ordinal> row_groups_of(PreparedPattern<Exec, Offset, Ordinal> const& prepared) {
  return {{prepared.groups.count.groups, 1},
          prepared.pattern.row_offsets,
          prepared.groups.begin.data()};
}

/// A block is read by rows, a block of the transpose by columns.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_blocks(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  auto const size = static_cast<int>(pattern.block);
  bool const by_rows = prepared.permutation == nullptr;
  BlockRows<Offset> const schedule{{prepared.groups.count.groups, 1},
                                   pattern.row_offsets,
                                   size,
                                   static_cast<int>(groups_of_block(pattern.block)),
                                   by_rows ? size : 1};
  BlockEntries<Scalar, Offset, Ordinal> const entries{
      pattern.column_indices,
      prepared.permutation,
      call.values.own,
      {FastDivision(size), size, by_rows ? 1 : size}};
  launch_groups_with<true, int>(exec, call, schedule, entries);
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_groups(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  if (pattern.block > 1) return launch_blocks(exec, call);
  if (prepared.permutation == nullptr)
    with_plain_entries(call, [&](auto const& entries) {
      launch_groups_with<true, Offset>(exec, call, row_groups_of(prepared), entries);
    });
  else
    launch_groups_with<false, Offset>(exec, call, row_groups_of(prepared), permuted_entries(call));
}

}  // namespace blockspan::detail
