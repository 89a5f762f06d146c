#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/detail/epilogue/scale_add.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/kernel.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/packs.hpp>
#include <blockspan/spmm/detail/schedule/cut_rows.hpp>
#include <blockspan/spmm/detail/schedule/whole_rows.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

// What a launch needs, and the launch itself once entries and inner are chosen.

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
template <class Exec, class Scalar, class Ordinal>
struct SpmmCall {
  PreparedPattern<Exec, Ordinal> const& prepared;
  MatrixValues<Scalar> values;
  CarrySpace<Scalar> carry;
  Launch const& launch;
  Product<Scalar> const& product;

  SpmmVariant const& variant() const { return *launch.variant; }
};

/// The one place that decides teams, team size and vector length; also hands the schedule its
/// share. `lanes`: of a team thread, a power of two. Throws Error if a thread can have one piece
/// only and there are more of them.
template <class Exec, class Share>
LaunchShape launch_shape(SpmmWorker worker, int lanes, RowStatistics const& rows, Share& share) {
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
  if constexpr (std::is_same_v<Share, PieceOfThread>)
    require(share.per_team <= shape.team_size, "blockspan::spmm", "a launch has no threads for ",
            share.pieces, " pieces");
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

/// Inners whose sums of whole rows come in packs to Y of any strides. Not those of listed pieces:
/// one H200, R-MAT 20, n = 32, 64, microseconds without and with: 567, 1141; 587, 1177.
template <class Inner>
inline constexpr bool writes_any_v = requires {
  requires Inner::takes_packs;
};

/// The variants that list pieces.
template <class Exec, class Scalar, class Ordinal, class Inner, bool Packed>
void launch_pieces(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                   Inner const& inner, int lanes) {
  using Share = PieceShare<ListedPiece, Inner>;
  Share share{call.prepared.pieces(call.variant()), 1};
  LaunchShape const shape =
      launch_shape<Exec>(call.variant().worker, lanes, call.prepared.statistics, share);
  auto const epilogue = make_epilogue<Exec, Scalar, Packed>(call.product);
  auto const& list = call.prepared.list;
  using Schedule = CutRows<Scalar, Ordinal, Share>;
  Schedule const schedule{carry_of(list, call.product.Y.columns, call.carry), share,
                          list.target.data(), list.first.data(), list.last.data()};
  auto const run = [&]<unsigned Blocks>() {
    SpmmKernel<Exec, Schedule, Inner, std::remove_const_t<decltype(epilogue)>, Blocks>{
        schedule, inner, epilogue}
        .launch(exec, call.variant().label, shape);
  };
  if constexpr (requires { Inner::blocks_of_many_pieces; })
    if (list.pieces >= tuning::device_few_pieces)
      return run.template operator()<Inner::blocks_of_many_pieces>();
  run.template operator()<Inner::blocks>();
}

template <class Exec, class Scalar, class Ordinal, class Inner, bool Packed>
void launch_schedule(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                     Inner const& inner, int lanes) {
  auto const& [prepared, values, carry, launch, product] = call;
  auto const& variant = call.variant();
  if constexpr (!requires { requires Inner::only_whole_rows; })
    if (variant.lists_pieces())
      return launch_pieces<Exec, Scalar, Ordinal, Inner, Packed>(exec, call, inner, lanes);
  using Share = PieceShare<Piece, Inner>;
  Share share{prepared.pieces(variant), 1};
  LaunchShape const shape = launch_shape<Exec>(variant.worker, lanes, prepared.statistics, share);
  auto const epilogue = make_epilogue<Exec, Scalar, Packed, writes_any_v<Inner>>(product);
  using Schedule = WholeRows<Share>;
  SpmmKernel<Exec, Schedule, Inner, std::remove_const_t<decltype(epilogue)>>{
      Schedule{share, prepared.pattern.row_offsets}, inner, epilogue}
      .launch(exec, variant.label, shape);
}

/// The entries of a pattern whose values are looked up.
template <class Exec, class Scalar, class Ordinal>
PermutedEntries<Scalar, Ordinal> permuted_entries(SpmmCall<Exec, Scalar, Ordinal> const& call) {
  auto const& pattern = call.prepared.pattern;
  return {pattern.column_indices, call.prepared.permutation, call.values.own,
          static_cast<int>(pattern.entries - 1)};
}

/// run(entries) with the values in the order of the pattern, in single precision where they are
/// held so ...
template <class Exec, class Scalar, class Ordinal, class Run>
void with_plain_entries(SpmmCall<Exec, Scalar, Ordinal> const& call, Run const& run) {
  auto const* const columns = call.prepared.pattern.column_indices;
  if constexpr (!std::is_same_v<Scalar, single_t<Scalar>>)
    if (call.values.singles != nullptr)
      return run(PlainEntries<Scalar, Ordinal, single_t<Scalar>>{columns, call.values.singles});
  run(PlainEntries<Scalar, Ordinal>{columns, call.values.own});
}

/// ... for whole rows, with the columns in 16 bits where that was decided.
template <class Exec, class Scalar, class Ordinal, class Run>
void with_entries_of_rows(SpmmCall<Exec, Scalar, Ordinal> const& call, Run const& run) {
  if constexpr (!runs_on_host_v<Exec>) {
    auto const& distances = call.prepared.distances;
    if (call.launch.narrow) {
      if constexpr (!std::is_same_v<Scalar, single_t<Scalar>>)
        if (call.values.singles != nullptr)
          return run(NarrowEntries<Scalar, Ordinal, single_t<Scalar>>{distances.data(),
                                                                      call.values.singles});
      return run(NarrowEntries<Scalar, Ordinal>{distances.data(), call.values.own});
    }
  }
  with_plain_entries(call, run);
}

/// run(entries) of rows or pieces, as decided.
template <class Exec, class Scalar, class Ordinal, class Run>
void with_entries(SpmmCall<Exec, Scalar, Ordinal> const& call, Run const& run) {
  if (call.prepared.permutation != nullptr)
    run(permuted_entries(call));
  else
    with_entries_of_rows(call, run);
}

}  // namespace blockspan::detail
