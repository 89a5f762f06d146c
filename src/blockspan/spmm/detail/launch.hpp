#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/detail/epilogue/scale_add.hpp>
#include <blockspan/spmm/detail/inner/device_shape.hpp>
#include <blockspan/spmm/detail/inner/direct_lanes.hpp>
#include <blockspan/spmm/detail/inner/direct_registers.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/one_column.hpp>
#include <blockspan/spmm/detail/item_kernels.hpp>
#include <blockspan/spmm/detail/kernel.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/packs.hpp>
#include <blockspan/spmm/detail/partition/predict.hpp>
#include <blockspan/spmm/detail/schedule/cut_rows.hpp>
#include <blockspan/spmm/detail/schedule/row_passes.hpp>
#include <blockspan/spmm/detail/schedule/whole_rows.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

/// Where the parts of cut rows wait, of one instance.
template <class Scalar>
struct CarrySpace {
  Scalar* sums = nullptr;
  int* arrived = nullptr;
};

/// Room for the parts of `list`, in the plan's pools; nothing where no row was cut.
template <class Scalar, class Exec, class List>
CarrySpace<Scalar> reserve_carry(Exec const& exec, CarryPools<Exec>& pools, List const& list,
                                 std::int64_t columns) {
  if (list.slots == 0) return {};
  auto const bytes = [&](std::int64_t rows, std::size_t each) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * each;
  };
  return {static_cast<Scalar*>(pools.sums.reserve(exec, bytes(list.slots, sizeof(Scalar)))),
          static_cast<int*>(pools.arrived.reserve(exec, bytes(list.cut_rows, sizeof(int))))};
}

template <class Scalar, class Exec, class Ordinal>
Carry<Scalar, Ordinal> carry_of(CutRowList<Exec, Ordinal> const& list, std::int64_t columns,
                                CarrySpace<Scalar> const& space) {
  return {list.cut_row.data(), list.cut_slot.data(), list.slot_row.data(), columns,
          space.sums,          space.arrived};
}

/// The values of op(A) where the kernels read them.
template <class Scalar>
struct MatrixValues {
  Scalar const* own;
  single_t<Scalar> const* singles = nullptr;  ///< the same in single precision; null: not held
};

/// Everything a launch needs, with the choices still to be made types of: which schedule, which
/// entries, which inner.
template <class Exec, class Scalar, class Offset, class Ordinal>
struct SpmmCall {
  PreparedPattern<Exec, Offset, Ordinal> const& prepared;
  MatrixValues<Scalar> values;
  CarrySpace<Scalar> carry;
  bool packs;  ///< a lane takes whole packs of columns; hosts: wide registers
  Product<Scalar> const& product;
  SpmmVariant const& variant;  ///< that runs: the chosen one, or what stands in for it
};

/// The one place that decides teams, team size and vector length; also hands the schedule its
/// share. `lanes`: of a team thread, a power of two.
template <class Exec>
LaunchShape launch_shape(SpmmWorker worker, int lanes, RowStatistics const& rows,
                         PiecesOfTeam& share) {
  LaunchShape shape{0, 1, lanes};
  if (worker == SpmmWorker::team) {
    share.per_team = 1;
  } else if constexpr (runs_on_host_v<Exec>) {
    auto const mean = static_cast<std::int64_t>(rows.mean());
    share.per_team =
        std::clamp<std::int64_t>(tuning::host_team_entries / (mean + 1), 1, tuning::host_team_rows);
  } else {
    shape.team_size = static_cast<int>(tuning::device_threads) / lanes;
    share.per_team = shape.team_size;
  }
  // a league is an int: where there are more teams than that, each takes more pieces
  share.per_team = std::max(share.per_team, ceil_div(share.pieces, std::int64_t{INT_MAX}));
  shape.teams = ceil_div(share.pieces, share.per_team);
  return shape;
}

template <class Exec, class Scalar, bool Packed, bool Anywhere = false>
ScaleAdd<Scalar, Packed, runs_on_host_v<Exec>, Anywhere> make_epilogue(
    Product<Scalar> const& product) {
  std::int64_t const bytes = product.Y.rows * product.Y.columns * std::int64_t{sizeof(Scalar)};
  return {product.alpha,
          product.beta,
          product.beta == Scalar(0),
          bytes >= tuning::host_stream_bytes,
          product.Y,
          Anywhere && rows_are_packs(product.Y)};
}

/// The variants that list pieces.
template <class Exec, class Scalar, class Offset, class Ordinal, class Inner, bool Packed>
void launch_pieces(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                   Inner const& inner, PiecesOfTeam const& share, LaunchShape const& shape) {
  auto const epilogue = make_epilogue<Exec, Scalar, Packed>(call.product);
  auto const& list = call.prepared.list;
  using Schedule = CutRows<Scalar, Offset, Ordinal>;
  Schedule const schedule{carry_of(list, call.product.Y.columns, call.carry), share,
                          list.target.data(), list.first.data(), list.last.data()};
  auto const run = [&]<unsigned Blocks>() {
    SpmmKernel<Exec, Schedule, Inner, std::remove_const_t<decltype(epilogue)>, Blocks>{
        schedule, inner, epilogue}
        .launch(exec, call.variant.label, shape);
  };
  if constexpr (requires { Inner::blocks_of_many_pieces; })
    if (list.pieces >= tuning::device_few_pieces)
      return run.template operator()<Inner::blocks_of_many_pieces>();
  run.template operator()<Inner::blocks>();
}

template <class Exec, class Scalar, class Offset, class Ordinal, class Inner, bool Packed>
void launch_schedule(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                     Inner const& inner, int lanes) {
  auto const& [prepared, values, carry, use_packs, product, variant] = call;
  PiecesOfTeam share{prepared.pieces(variant), 1};
  LaunchShape const shape = launch_shape<Exec>(variant.worker, lanes, prepared.statistics, share);
  if constexpr (!requires { requires Inner::only_whole_rows; })
    if (variant.lists_pieces())
      return launch_pieces<Exec, Scalar, Offset, Ordinal, Inner, Packed>(exec, call, inner, share,
                                                                         shape);
  auto const epilogue = make_epilogue<Exec, Scalar, Packed>(product);
  using Schedule = WholeRows<Offset>;
  SpmmKernel<Exec, Schedule, Inner, std::remove_const_t<decltype(epilogue)>>{
      Schedule{share, prepared.pattern.row_offsets}, inner, epilogue}
      .launch(exec, variant.label, shape);
}

/// Whole rows, whose passes run side by side.
template <class Exec, class Scalar, class Offset, class Ordinal, class Inner>
void launch_passes(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                   Inner const& inner, DeviceShape const& lanes, std::int64_t packs) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  PiecesOfTeam share{pattern.rows * lanes.passes(packs), 1};
  auto const shape =
      launch_shape<Exec>(call.variant.worker, lanes.grid.lanes(), prepared.statistics, share);
  auto const epilogue = make_epilogue<Exec, Scalar, true>(call.product);
  SpmmKernel<Exec, RowPasses<Offset>, Inner, std::remove_const_t<decltype(epilogue)>>{
      {share, pattern.rows, pattern.row_offsets}, inner, epilogue}
      .launch(exec, call.variant.label, shape);
}

/// Devices: from a row of X to the next, as DirectLanes addresses it. Throws Error if that is too
/// far.
template <class Scalar>
std::uint32_t device_row_bytes(BlockRef<Scalar const> const& X) {
  std::int64_t const stride = X.row_stride * std::int64_t{sizeof(Scalar)};
  require(stride < std::int64_t{UINT32_MAX}, "blockspan::spmm", "rows of X lie ", stride,
          " bytes apart, more than a device kernel can address");
  return static_cast<std::uint32_t>(stride);
}

/// Devices: the inner for this width, and its lanes. Several packs (or single columns) a lane are
/// instantiated for the plain product only.
template <class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_lanes(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                  Entries const& entries) {
  constexpr bool plain = are_plain_v<Entries>;
  auto const& X = call.product.X;
  auto const& prepared = call.prepared;
  std::int64_t const packs = call.packs ? X.columns / device_pack_v<Scalar> : X.columns;
  auto const& Y = call.product.Y;
  auto const pieces = prepared.piece_statistics(call.variant);
  // held singles and narrow entries have no kernel with passes side by side
  constexpr bool spreads = std::is_same_v<Entries, PlainEntries<Scalar, Offset, Ordinal>>;
  bool const may_spread = spreads && call.packs && !call.variant.lists_pieces() &&
                          call.variant.worker == SpmmWorker::team_thread;
  // columns in 16 bits serve fewer packs than three a lane
  constexpr int most_packs = !plain ? 1 : are_narrow_v<Entries> ? 2 : 3;
  auto shape = device_shape(lanes_exchange_v<Exec>, packs, pieces, call.packs ? most_packs : 1,
                            prepared.lanes, may_spread);
  if (plain && !is_complex_v<Scalar> && !call.packs && X.column_stride == 1 && Y.column_stride == 1)
    shape =
        columns_of_lane(shape, X.columns, tuning::device_columns_of_lane, pieces, prepared.lanes);
  std::uint32_t const row_bytes = device_row_bytes(X);
  auto const with = [&]<int Width, bool Packed, int Packs, bool EntryLanes, bool Deep = false>() {
    using Inner =
        DirectLanes<Scalar, Entries, Offset, Width, Packed, Packs, EntryLanes, 1, false, Deep>;
    Inner const inner{entries, X, conjugates(call.product.op), shape.grid, row_bytes};
    if constexpr (spreads && Packed && (EntryLanes || Deep))
      if (shape.spread) return launch_passes(exec, call, inner, shape, packs);
    launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, Packed>(exec, call, inner,
                                                                  shape.grid.lanes());
  };
  constexpr int width = device_pack_v<Scalar>;
  bool const shared = shape.grid.entry_bits > 0 || (shape.spread && shape.packs_per_lane == 1);
  bool const two = shape.packs_per_lane == 2;
  if (!call.packs && shared) return with.template operator()<1, false, 1, true>();
  if constexpr (plain && !is_complex_v<Scalar>) {
    if (!call.packs && two) return with.template operator()<1, false, 2, false>();
    if (!call.packs && shape.packs_per_lane == 3)
      return with.template operator()<1, false, 3, false>();
    if (!call.packs && shape.packs_per_lane == 4)
      return with.template operator()<1, false, 4, false>();
  }
  if (!call.packs) return with.template operator()<1, false, 1, false>();
  if (shared) return with.template operator()<width, true, 1, true>();
  if constexpr (plain && !are_narrow_v<Entries>)
    if (two && shape.deep) return with.template operator()<width, true, 2, false, true>();
  if constexpr (most_packs == 3)
    if (shape.packs_per_lane == 3) return with.template operator()<width, true, 3, false>();
  if constexpr (plain)
    if (two) return with.template operator()<width, true, 2, false>();
  with.template operator()<width, true, 1, false>();
}

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
      run(DirectRegisters<Scalar, Entries, Offset, Widest, Unit>{entries, X, conjugate_values});
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

/// Devices: whether staged tiles of X run as SharedTiles.
template <class Exec, class Scalar, class Offset, class Ordinal>
bool suit_shared_tiles(PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                       Product<Scalar> const& product) {
  bool const as_they_stand =
      prepared.permutation == nullptr && !(is_complex_v<Scalar> && conjugates(product.op));
  return as_they_stand &&
         rows_share_tiles<Exec>(prepared.statistics,
                                product.X.columns * std::int64_t{sizeof(Scalar)}, sizeof(Scalar));
}

/// The entries of a pattern whose values are looked up.
template <class Exec, class Scalar, class Offset, class Ordinal>
PermutedEntries<Scalar, Offset, Ordinal> permuted_entries(
    SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& pattern = call.prepared.pattern;
  return {pattern.column_indices, call.prepared.permutation, call.values.own,
          static_cast<Offset>(pattern.entries - 1)};
}

/// run(entries) with the values that stand in the order of the pattern, in single precision where
/// they are held so ...
template <class Exec, class Scalar, class Offset, class Ordinal, class Run>
void with_plain_entries(SpmmCall<Exec, Scalar, Offset, Ordinal> const& call, Run const& run) {
  auto const* const columns = call.prepared.pattern.column_indices;
  if constexpr (!std::is_same_v<Scalar, single_t<Scalar>>)
    if (call.values.singles != nullptr)
      return run(
          PlainEntries<Scalar, Offset, Ordinal, single_t<Scalar>>{columns, call.values.singles});
  run(PlainEntries<Scalar, Offset, Ordinal>{columns, call.values.own});
}

/// ... for whole rows, with the columns in 16 bits where the plan has them so and a walk over the
/// entries serves few enough columns of X.
template <class Exec, class Scalar, class Offset, class Ordinal, class Run>
void with_entries_of_rows(SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                          std::int64_t columns_of_walk, Run const& run) {
  if constexpr (!runs_on_host_v<Exec>) {
    auto const& distances = call.prepared.distances;
    if (call.prepared.reads_distances(columns_of_walk * std::int64_t{sizeof(Scalar)})) {
      if constexpr (!std::is_same_v<Scalar, single_t<Scalar>>)
        if (call.values.singles != nullptr)
          return run(NarrowEntries<Scalar, Offset, Ordinal, single_t<Scalar>>{distances.data(),
                                                                              call.values.singles});
      return run(NarrowEntries<Scalar, Offset, Ordinal>{distances.data(), call.values.own});
    }
  }
  with_plain_entries(call, run);
}

/// Devices, column-major X: whole rows, a lane a row, so that neighbouring lanes read neighbours of
/// a column of X where neighbouring rows have neighbouring columns. Values stand as the pattern
/// does.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_columns(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& product = call.product;
  auto const& prepared = call.prepared;
  WholeRows<Offset> schedule{{prepared.pattern.rows, 1}, prepared.pattern.row_offsets};
  auto const shape =
      launch_shape<Exec>(call.variant.worker, 1, prepared.statistics, schedule.share);
  auto const epilogue = make_epilogue<Exec, Scalar, false>(product);
  constexpr int size = sizeof(Scalar);
  int const at_once = column_bytes(product.X.columns, sizeof(Scalar)) / size;
  with_entries_of_rows(call, at_once, [&](auto const& entries) {
    using Entries = std::remove_cvref_t<decltype(entries)>;
    auto const run = [&]<int Columns>() {
      using Inner = DirectLanes<Scalar, Entries, Offset, 1, false, Columns, false, 1, false, true>;
      SpmmKernel<Exec, WholeRows<Offset>, Inner, std::remove_const_t<decltype(epilogue)>>{
          schedule,
          {entries, product.X, conjugates(product.op), {}, device_row_bytes(product.X)},
          epilogue}
          .launch(exec, call.variant.label, shape);
    };
    constexpr int few = tuning::device_few_column_bytes / size;
    if (at_once == few) return run.template operator()<few>();
    run.template operator()<tuning::device_column_bytes / size>();
  });
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
    with_plain_entries(call, [&](auto const& entries) { launch_inner(exec, call, entries); });
  else
    with_entries_of_rows(call, call.product.X.columns,
                         [&](auto const& entries) { launch_inner(exec, call, entries); });
}

}  // namespace blockspan::detail
