#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/detail/bulk_copies.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/kernels/shared_tiles.hpp>
#include <blockspan/spmm/kernels/shared_windows.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// Y = epilogue(A X) with all the scratch that a multiprocessor has, of which Kokkos gives a team
/// no more than 48 KiB: launched without it, on the instance's stream.
template <class Work, class Epilogue>
__global__ void __launch_bounds__(Work::threads, 1)
    multiply_in_large_teams(Work const work, Epilogue const epilogue) {
  extern __shared__ uint4 blockspan_large_scratch[];
  work.multiply(
      *reinterpret_cast<typename Work::Scratch*>(blockspan_large_scratch),
      static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x),
      [&](std::int64_t row, std::int64_t column, auto const& sum) { epilogue(row, column, sum); });
}

/// What Kokkos Tools see of a kernel that Kokkos does not launch.
class LaunchSeenByTools {
 public:
  template <class Exec>
  LaunchSeenByTools(Exec const& exec, char const* label)
      : seen_(Kokkos::Tools::profileLibraryLoaded()) {
    if (seen_)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id_);
  }
  ~LaunchSeenByTools() {
    if (seen_) Kokkos::Tools::endParallelFor(id_);
  }
  LaunchSeenByTools(LaunchSeenByTools const&) = delete;
  LaunchSeenByTools& operator=(LaunchSeenByTools const&) = delete;

 private:
  bool seen_;
  std::uint64_t id_ = 0;
};

template <class Work, class Exec, class Epilogue>
void launch_in_large_teams(Exec const& exec, char const* label, std::int64_t teams,
                           Work const& work, Epilogue const& epilogue) {
  auto const check = [](cudaError_t error) {
    require(error == cudaSuccess, "blockspan::spmm", "CUDA: ", cudaGetErrorString(error));
  };
  auto const kernel = multiply_in_large_teams<Work, Epilogue>;
  constexpr auto bytes = static_cast<int>(sizeof(typename Work::Scratch));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  LaunchSeenByTools const seen(exec, label);
  kernel<<<static_cast<unsigned>(teams), Work::threads, bytes, exec.cuda_stream()>>>(work,
                                                                                     epilogue);
  check(cudaGetLastError());
}

#endif

template <class Exec, class Scalar, class Offset, class Ordinal>
void require_teams(SpmmCall<Exec, Scalar, Offset, Ordinal> const& call, std::int64_t teams) {
  require(teams <= INT_MAX, "blockspan::spmm", call.variant().id,
          " cannot serve this input: ", teams,
          " teams are more than a launch can have (rows: ", call.prepared.pattern.rows,
          ", columns: ", call.product.X.columns, ")");
}

template <int Width, int Lanes, class Exec, class Scalar, class Offset, class Ordinal>
void launch_shared_tiles_of(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  using Work = SharedTiles<Scalar, Offset, Ordinal, Width, Lanes>;
  auto const& pattern = call.prepared.pattern;
  auto const& X = call.product.X;
  int const packs = static_cast<int>(X.columns / Width);
  int const panels = ceil_div(packs, Lanes);
  std::int64_t const teams = panels * ceil_div(pattern.rows, std::int64_t{Work::team_rows});
  require_teams(call, teams);
  bool const whole = packs == Lanes && X.row_stride == X.columns;
  launch_in_large_teams(exec, call.variant().label, teams,
                        Work{pattern.row_offsets, pattern.rows, pattern.column_indices,
                             call.values.own, X, packs, panels, whole},
                        make_epilogue<Exec, Scalar, true>(call.product));
}

template <int Groups, class Exec, class Scalar, class Offset, class Ordinal>
void launch_shared_windows_of(Exec const& exec,
                              SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  using Work = SharedWindows<Scalar, Offset, Ordinal, Groups>;
  auto const& pattern = call.prepared.pattern;
  auto const& X = call.product.X;
  int const packs = static_cast<int>(X.columns / Work::width);
  int const panels = ceil_div(packs, Work::packs_of_panel);
  std::int64_t const teams = panels * ceil_div(pattern.rows, std::int64_t{Work::team_rows});
  require_teams(call, teams);
  launch_in_large_teams(exec, call.variant().label, teams,
                        Work{pattern.row_offsets, pattern.rows, pattern.column_indices,
                             call.values.own, call.prepared.masks.data(), X, packs, panels},
                        make_epilogue<Exec, Scalar, true>(call.product));
}

/// Panels of about equal width, up to 32 packs.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_shared_windows(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  switch (shared_window_groups(call.product.X.columns / device_pack_v<Scalar>)) {
    case 1:
      return launch_shared_windows_of<1>(exec, call);
    case 2:
      return launch_shared_windows_of<2>(exec, call);
    case 3:
      return launch_shared_windows_of<3>(exec, call);
    default:
      return launch_shared_windows_of<4>(exec, call);
  }
}

/// Panels as wide as the rows of X, up to 32 packs.
template <int Width, class Exec, class Scalar, class Offset, class Ordinal>
void launch_shared_tiles(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  std::int64_t const packs = call.product.X.columns / Width;
  if (packs <= 8)
    launch_shared_tiles_of<Width, 8>(exec, call);
  else if (packs <= 16)
    launch_shared_tiles_of<Width, 16>(exec, call);
  else
    launch_shared_tiles_of<Width, 32>(exec, call);
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_sharing_tiles(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  constexpr int width = device_pack_v<Scalar>;
  if (call.launch.kernel == SpmmKernelKind::shared_windows) {
    if constexpr (windows_share_tiles_v<Exec> && std::is_same_v<real_t<Scalar>, double>)
      launch_shared_windows(exec, call);
  } else if constexpr (bulk::available<Exec> && width > 1 && sizeof(Scalar) <= sizeof(double)) {
    launch_shared_tiles<width>(exec, call);
  }
}

}  // namespace blockspan::detail
