#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/kernel.hpp>

namespace blockspan::published {

/// Y = epilogue(op(A) X): all threads of a team process one tile of the matrix together, through
/// team scratch.
///
/// Work: multiplies a tile, calls consume(segment, column, sum) once for every part of a row and
/// every column, on one lane, and returns the scratch size of a team. Epilogue: the only code that
/// writes Y.
template <class Exec, class Work, class Epilogue>
struct TeamKernel {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                    Kokkos::LaunchBounds<tuning::device_threads, Work::blocks>>;
  using Team = typename Policy::member_type;

  Work work;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    work.multiply(team, [&](auto const& segment, std::int64_t column, auto const& sum) {
      if constexpr (Work::splits_rows) {
        if (!segment.complete()) {
          work.tiles.keep(segment, column, sum,
                          [&](std::int64_t, std::int64_t row, std::int64_t first, auto const& all) {
                            epilogue(row, first, all);
                          });
          return;
        }
      }
      epilogue(segment.row(), column, sum);
    });
    epilogue.finish_team();
  }

  void launch(Exec const& exec, char const* label, LaunchShape const& shape) const {
    if (shape.teams == 0) return;
    Policy policy(exec, static_cast<int>(shape.teams), shape.team_size, shape.vector_length);
    policy.set_scratch_size(0, Kokkos::PerTeam(work.scratch_bytes()));
    Kokkos::parallel_for(label, policy, *this);
  }
};

}  // namespace blockspan::published
