#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/parts/inner.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/registers/register_set.hpp>

namespace blockspan::products {

/// `count` elements of the scratch of the team.
template <class T, class Team>
KOKKOS_FORCEINLINE_FUNCTION T* team_array(Team const& team, int count) {
  return static_cast<T*>(team.team_scratch(0).get_shmem_aligned(
      static_cast<std::size_t>(count) * sizeof(T), alignof(T)));
}

/// Bytes to ask for, for arrays of this many bytes in all: room to align each of them.
inline std::size_t scratch_for(std::size_t bytes) { return bytes + 64; }

/// Teams of a launch, decided by launch_shape in call.hpp.
struct LaunchShape {
  std::int64_t teams;
  int team_size;      ///< 1 on hosts
  int vector_length;  ///< a power of two up to 32; 1 on hosts
};

template <class Inner, class Team>
KOKKOS_FORCEINLINE_FUNCTION auto stage_of(Inner const& inner, Team const& team) {
  if constexpr (has_stage_v<Inner, Team>)
    return inner.stage(team);
  else
    return 0;
}

/// How the threads of a team share such segments.
template <class Segment, class Inner>
using SegmentShare = std::conditional_t<lane_code_v<Segment, Inner>.segment_a_thread,
                                        SegmentOfThread, SegmentsOfTeam>;

/// Y = epilogue(op(A) X): a segment of a row, or a group of rows, per team thread, the vector lanes
/// (on hosts: the registers) over the columns.
///
/// Schedule: which segments a thread owns; keeps the sums of unfinished rows.
/// Inner: multiplies a segment with a vector of columns (parts/inner.hpp).
/// Epilogue: the only code that writes Y.
/// Traffic: A once, every row of X as often as its column has nonzeros (once, if the cache holds
/// it), Y once (twice where beta is not zero).
/// Blocks: of a multiprocessor at once, which bounds the registers.
template <class Exec, class Schedule, KernelInner Inner, class Epilogue,
          unsigned Blocks = Inner::blocks>
struct SpmmKernel {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                    Kokkos::LaunchBounds<threads_of_team_v<Inner>, Blocks>>;
  using Team = typename Policy::member_type;
  static constexpr bool passes_outside =
      lane_code_v<typename Schedule::Segment, Inner>.passes_outside;

  Schedule schedule;
  Inner inner;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto&& writer = epilogue.of_team(team);
    if (!multiplied_vectors(team, writer)) {
      [[maybe_unused]] auto stage = stage_of(inner, team);
      for_each_pass([&](int begin) {
        schedule.for_each_segment(team, [&](auto const& segment) {
          // i: which row of the segment, if that is a group of rows; s: which of the lane's vectors
          auto const consume = [&](std::int64_t column, auto const& sum, int i = 0, int s = 0) {
            finish(writer, segment, i, column, sum, s);
          };
          if constexpr (passes_outside)
            inner.for_each_sum_of_pass(team, segment, begin, consume);
          else if constexpr (has_stage_v<Inner, Team>)
            inner.for_each_sum(team, stage, segment, consume);
          else
            inner.for_each_sum(team, segment, consume);
        });
      });
    }
    writer.finish_team();
  }

  /// Passes on the sums of a segment: of a whole row to the epilogue, of a part to the schedule.
  template <class Writer, class Segment, class Sums>
  KOKKOS_FORCEINLINE_FUNCTION void finish(Writer& writer, Segment const& segment, int i,
                                          std::int64_t column, Sums const& sum, int s) const {
    if constexpr (Schedule::splits_rows) {
      if (!segment.complete()) {
        if (column < epilogue.Y.columns)
          schedule.keep(segment, column, sum, [&](auto cut, auto row, auto first, auto const& all) {
            epilogue.finish_cut_row(cut, row, first, all);
          });
        return;
      }
    }
    writer(segment.row(), i, column, sum, s);
  }

  /// Hosts: one vector of columns after the other, if the inner has them outside the rows.
  template <class Writer>
  KOKKOS_FORCEINLINE_FUNCTION bool multiplied_vectors([[maybe_unused]] Team const& team,
                                                      [[maybe_unused]] Writer const& writer) const {
    if constexpr (may_have_vectors_outside_v<Inner>) {
      if (!inner.vectors_outside()) return false;
      inner.for_each_vector([&](std::int64_t column, auto width) {
        KOKKOS_IF_ON_HOST((multiply_vector<decltype(width)::value>(team, writer, column);))
        KOKKOS_IF_ON_DEVICE(((void)column; (void)width;))
      });
      return true;
    }
    return false;
  }

  /// Hosts: the team's rows times one vector of columns. Not inlined, so that the loop over the
  /// nonzeros has the registers to itself; copies, which no write to Y can change.
  template <int Width, class Writer>
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void multiply_vector(Team const& team, Writer const& writer,
                                                          std::int64_t column) const {
    Inner const own = inner;
    Writer const out = writer;
    schedule.for_each_segment(team, [&](auto const& segment) {
      auto const consume = [&](std::int64_t first, auto const& sum, int i = 0) {
        finish(out, segment, i, first, sum, 0);
      };
      KOKKOS_IF_ON_HOST((own.template multiply_vector<Width>(segment, column, consume);))
      KOKKOS_IF_ON_DEVICE(((void)segment; (void)own; (void)out; (void)column; (void)consume;))
    });
  }

  /// function(first vector) for each pass over the columns, if these are not inside the inner: what
  /// a thread knows of its segment is read again then, and takes no registers in between.
  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_pass(Function const& function) const {
    if constexpr (passes_outside)
      for (int first = 0; first < inner.vectors_of_row(); first += inner.vectors_of_pass())
        function(first);
    else
      function(0);
  }
};

/// Launches the kernel of these parts. `Blocks`: see SpmmKernel; 0: the inner's.
template <unsigned Blocks = 0, class Exec, class Schedule, class Inner, class Epilogue>
void launch_kernel(Exec const& exec, char const* label, LaunchShape const& shape,
                   Schedule const& schedule, Inner const& inner, Epilogue const& epilogue) {
  using Kernel = SpmmKernel<Exec, Schedule, Inner, Epilogue, Blocks == 0 ? Inner::blocks : Blocks>;
  if (shape.teams == 0) return;
  typename Kernel::Policy policy(exec, static_cast<int>(shape.teams), shape.team_size,
                                 shape.vector_length);
  auto const team_bytes = static_cast<int>(epilogue.scratch_bytes(shape.team_size));
  int thread_bytes = 0;
  if constexpr (has_thread_scratch_v<Inner>)
    thread_bytes = static_cast<int>(inner.thread_scratch_bytes());
  if (team_bytes + thread_bytes > 0)
    policy.set_scratch_size(0, Kokkos::PerTeam(team_bytes), Kokkos::PerThread(thread_bytes));
  Kernel const kernel{schedule, inner, epilogue};
  if constexpr (has_occupancy_v<Inner>)
    Kokkos::parallel_for(label,
                         Kokkos::Experimental::prefer(
                             policy, Kokkos::Experimental::DesiredOccupancy{Inner::occupancy}),
                         kernel);
  else
    Kokkos::parallel_for(label, policy, kernel);
}

}  // namespace blockspan::products
