#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/bulk_copies.hpp>
#include <blockspan/spmm/detail/launch_schedule.hpp>
#include <blockspan/spmm/detail/published_kernels.hpp>
#include <blockspan/spmm/kernels/rows_host.hpp>
#include <blockspan/spmm/kernels/rows.hpp>
#include <blockspan/spmm/kernels/rows_host.hpp>
#include <blockspan/spmm/kernels/sparse_rows.hpp>

namespace blockspan::detail {

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
    if (!call.launch.packs || X.columns == 1) return in_registers.template operator()<1, false>();
    if (X.column_stride == 1) return in_registers.template operator()<host_pack_v<Scalar>, true>();
    in_registers.template operator()<tuning::host_strided_columns, false>();
  } else {
    launch_lanes<Exec, Scalar, Offset, Ordinal, Entries>(exec, call, entries);
  }
}

/// Groups of rows. Defined in launch_groups.hpp, compiled on its own.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_groups(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call);

/// Windows of rows. Defined in launch_windows.hpp, compiled on its own.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_windows(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call);

/// Tiles of X that a team shares, for lanes and for windows of rows. Defined in
/// launch_shared_tiles.hpp, compiled on its own.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_sharing_tiles(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call);

/// The literature's kernels, of a library that a program may do without.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_of_published(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const launch = PublishedKernels<Exec, Scalar, Offset, Ordinal>::launch;
  require_published<Exec>("blockspan::spmm", call.variant(), launch);
  launch(exec, call);
}

/// The one place where a decided launch becomes types.
template <class Exec, class Scalar, class Offset, class Ordinal>
void run(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  switch (call.launch.kernel) {
    case SpmmKernelKind::windows:
      if constexpr (tensor::available<Exec, real_t<Scalar>>) launch_windows(exec, call);
      return;
    case SpmmKernelKind::groups:
      return launch_groups(exec, call);
    case SpmmKernelKind::row_columns:
    case SpmmKernelKind::staged_columns:
      if constexpr (!runs_on_host_v<Exec>) launch_columns(exec, call);
      return;
    case SpmmKernelKind::sparse_rows:
      if constexpr (lanes_exchange_v<Exec>)
        with_plain_entries(call,
                           [&](auto const& entries) { launch_sparse_rows(exec, call, entries); });
      return;
    case SpmmKernelKind::rows:
      return with_entries(call, [&](auto const& entries) { launch_inner(exec, call, entries); });
    case SpmmKernelKind::shared_tiles:
    case SpmmKernelKind::shared_windows:
      if constexpr (bulk::available<Exec>) launch_sharing_tiles(exec, call);
      return;
    default:
      return launch_of_published(exec, call);
  }
}

}  // namespace blockspan::detail
