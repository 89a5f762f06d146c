#pragma once

#include <concepts>

#include <blockspan/spmm/devices/hopper.hpp>

namespace blockspan::products {

/// An inner multiplies a segment of a row (or a group of rows) with the columns of X that its lanes
/// (on hosts: its registers) have: a small struct of pointers, strides and flags, copied to every
/// thread. It has
///
///   static unsigned blocks            blocks of a multiprocessor at once, which bounds registers
///   for_each_sum(team, segment, consume)
///                                     consume(column, sum, i, s) once for each sum of the segment:
///                                     of row i of a group (0), the lane's s-th vector (0)
///
/// for launch_segments also of(call, entries), `width`, `contiguous` (rows of Y have to be), and
/// may have the members below; the comments give the default where it has not.
template <class T>
concept KernelInner = requires {
  { T::blocks } -> std::convertible_to<unsigned>;
};

/// code<Segment>: the form of its loops, with for_each_sum_of_pass, vectors_of_row and
/// vectors_of_pass where passes are outside. Else a plain one, for_each_sum.
template <class Segment, class T>
inline constexpr tuning::LaneCode lane_code_v{};
template <class Segment, class T>
requires requires { T::template code<Segment>; }
inline constexpr tuning::LaneCode lane_code_v<Segment, T> = T::template code<Segment>;

/// threads_of_team: at most, which bounds the registers together with the blocks.
template <class T>
inline constexpr unsigned threads_of_team_v = tuning::device_threads;
template <class T>
requires requires { T::threads_of_team; }
inline constexpr unsigned threads_of_team_v<T> = T::threads_of_team;

/// blocks_of_many_segments: blocks where many segments are listed. Else `blocks`, as 0 says.
template <class T>
inline constexpr unsigned blocks_of_many_segments_v = 0;
template <class T>
requires requires { T::blocks_of_many_segments; }
inline constexpr unsigned blocks_of_many_segments_v<T> = T::blocks_of_many_segments;

/// stage(team): the lanes of a thread keep entries together (in scratch or registers) before they
/// multiply, and for_each_sum(team, stage, segment, consume) gets what it returns.
template <class T, class Team>
inline constexpr bool has_stage_v = requires(T const& inner, Team const& team) {
  inner.stage(team);
};

/// thread_scratch_bytes(): scratch of a thread. Else none.
template <class T>
inline constexpr bool has_thread_scratch_v = requires(T const& inner) {
  inner.thread_scratch_bytes();
};

/// occupancy: in percent; what scratch leaves is first-level cache. Else Kokkos chooses.
template <class T>
inline constexpr bool has_occupancy_v = requires {
  T::occupancy;
};

/// strided_y: sums of whole rows come in vectors, also to Y of any strides; code of its own, which
/// has fewer registers for loads (7-point 128^3, n = 8: 154 us without, 170 with). Not those of
/// listed segments (R-MAT 20, n = 32, 64: 567, 1141 us without and 587, 1177 with). Else no.
template <class T>
inline constexpr bool supports_strided_y_v = requires {
  requires T::strided_y;
};

/// only_whole_rows: there are no kernels for listed segments. Else there are.
template <class T>
inline constexpr bool only_whole_rows_v = requires {
  requires T::only_whole_rows;
};

/// may_split_passes: passes over the columns may be in parallel (RowPasses). Else not.
template <class T>
inline constexpr bool has_parallel_passes_v = requires {
  requires T::may_split_passes;
};

/// Hosts. vectors_outside(): vectors of columns are outside the rows, by for_each_vector and
/// multiply_vector<Width>. Else for_each_sum has them.
template <class T>
inline constexpr bool may_have_vectors_outside_v = requires(T const& inner) {
  inner.vectors_outside();
};

}  // namespace blockspan::products
