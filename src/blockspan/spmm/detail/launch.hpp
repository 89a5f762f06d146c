#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/bulk_copies.hpp>
#include <blockspan/spmm/detail/launch_schedule.hpp>
#include <blockspan/spmm/detail/published_kernels.hpp>
#include <blockspan/spmm/kernels/columns.hpp>
#include <blockspan/spmm/kernels/rows.hpp>
#include <blockspan/spmm/kernels/rows_host.hpp>
#include <blockspan/spmm/kernels/sparse_rows.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

template <class Exec, class Scalar, class Ordinal, class Entries>
void launch_inner(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                  Entries const& entries) {
  if constexpr (runs_on_host_v<Exec>) {
    launch_on_host<Exec, Scalar, Ordinal, Entries>(exec, call, entries);
  } else {
    launch_lanes<Exec, Scalar, Ordinal, Entries>(exec, call, entries);
  }
}

/// Groups of rows. Defined in kernels/groups.hpp, compiled on its own.
template <class Exec, class Scalar, class Ordinal>
void launch_groups(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call);

/// Windows of rows. Defined in kernels/windows.hpp, compiled on its own.
template <class Exec, class Scalar, class Ordinal>
void launch_windows(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call);

/// Tiles of X that a team shares, for lanes and for windows of rows. Defined in
/// kernels/shared_tiles.hpp, compiled on its own.
template <class Exec, class Scalar, class Ordinal>
void launch_sharing_tiles(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call);

/// The literature's kernels, of a library that a program may do without.
template <class Exec, class Scalar, class Ordinal>
void launch_of_published(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call) {
  auto const launch = PublishedKernels<Exec, Scalar, Ordinal>::launch;
  require_published<Exec>("blockspan::spmm", call.variant(), launch);
  launch(exec, call);
}

/// The one place where a decided launch becomes types.
template <class Exec, class Scalar, class Ordinal>
void run(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call) {
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
