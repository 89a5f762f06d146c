#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/schedule/piece.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/register_set.hpp>

namespace blockspan::detail {

/// Teams of a launch: one function per kind of backend decides them (launch_shape in launch.hpp).
struct LaunchShape {
  std::int64_t teams;
  int team_size;      ///< 1 on hosts
  int vector_length;  ///< a power of two up to 32; 1 on hosts
};

/// The code of an inner for pieces of a kind, where it has a choice.
template <class Piece, class Inner>
inline constexpr tuning::LaneCode lane_code_v{};
template <class Piece, class Inner>
requires requires { Inner::template code<Piece>; }
inline constexpr tuning::LaneCode lane_code_v<Piece, Inner> = Inner::template code<Piece>;

/// Threads of a team at most, which bounds the registers together with the blocks.
template <class Inner>
inline constexpr unsigned threads_of_team_v = tuning::device_threads;
template <class Inner>
requires requires { Inner::threads_of_team; }
inline constexpr unsigned threads_of_team_v<Inner> = Inner::threads_of_team;

/// How teams hand out such pieces.
template <class Piece, class Inner>
using PieceShare =
    std::conditional_t<lane_code_v<Piece, Inner>.piece_a_thread, PieceOfThread, PiecesOfTeam>;

/// Y = epilogue(op(A) X), the skeleton "thread pieces": one piece of a row, or a group of
/// rows, per team thread, the vector lanes (on hosts: the registers) over the columns.
///
/// Schedule: which pieces a thread owns; keeps the sums of unfinished rows.
/// Inner: multiplies one piece with a pack of columns, by way of a stage that belongs to the
/// thread. Epilogue: the only writer of Y.
/// Traffic: A once, every row of X as often as its column has nonzeros (once, if the cache holds
/// it), Y once (twice where beta is not zero).
/// Blocks: of a multiprocessor at once, which bounds the registers.
template <class Exec, class Schedule, class Inner, class Epilogue, unsigned Blocks = Inner::blocks>
struct SpmmKernel {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                    Kokkos::LaunchBounds<threads_of_team_v<Inner>, Blocks>>;
  using Team = typename Policy::member_type;
  static constexpr bool passes_outside =
      lane_code_v<typename Schedule::OwnPiece, Inner>.passes_outside;

  Schedule schedule;
  Inner inner;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto&& writer = epilogue.of_team(team);
    if (!multiplied_packs(team, writer)) {
      auto stage = inner.stage(team);
      for_each_pass([&](int begin) {
        schedule.for_each_piece(team, [&](auto const& piece) {
          // i: which row of the piece, where that is a group of rows; pack: which of the lane's
          auto const consume = [&](std::int64_t column, auto const& sum, int i = 0, int pack = 0) {
            finish(writer, piece, i, column, sum, pack);
          };
          if constexpr (passes_outside)
            inner.for_each_sum_of_pass(team, piece, begin, consume);
          else
            inner.for_each_sum(team, stage, piece, consume);
        });
      });
    }
    writer.finish_team();
  }

  /// Takes the sums of a piece: of a whole row to the writer, of a part to the schedule.
  template <class Writer, class Piece, class Sums>
  KOKKOS_FORCEINLINE_FUNCTION void finish(Writer& writer, Piece const& piece, int i,
                                          std::int64_t column, Sums const& sum, int pack) const {
    if constexpr (Schedule::splits_rows) {
      if (!piece.complete()) {
        if (column < epilogue.Y.columns)
          schedule.keep(piece, column, sum,
                        [&](std::int64_t cut, std::int64_t row, std::int64_t first,
                            auto const& all) { epilogue.of_cut_row(cut)(row, first, all); });
        return;
      }
    }
    writer(piece.row(), i, column, sum, pack);
  }

  /// Hosts: the packs of columns one after the other, if the inner has them outside the rows.
  template <class Writer>
  KOKKOS_FORCEINLINE_FUNCTION bool multiplied_packs([[maybe_unused]] Team const& team,
                                                    [[maybe_unused]] Writer const& writer) const {
    if constexpr (requires { inner.packs_outside(); }) {
      if (!inner.packs_outside()) return false;
      inner.for_each_pack([&](std::int64_t column, auto width) {
        KOKKOS_IF_ON_HOST((multiply_pack<decltype(width)::value>(team, writer, column);))
        KOKKOS_IF_ON_DEVICE(((void)column; (void)width;))
      });
      return true;
    }
    return false;
  }

  /// Hosts: the team's rows times one pack of columns. A function of its own, so that the loop
  /// over the nonzeros has the registers to itself; copies, which no write to Y can change.
  template <int Width, class Writer>
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void multiply_pack(Team const& team, Writer const& writer,
                                                        std::int64_t column) const {
    Inner const own = inner;
    Writer const out = writer;
    schedule.for_each_piece(team, [&](auto const& piece) {
      auto const consume = [&](std::int64_t first, auto const& sum, int i = 0) {
        finish(out, piece, i, first, sum, 0);
      };
      KOKKOS_IF_ON_HOST((own.template multiply_pack<Width>(piece, column, consume);))
      KOKKOS_IF_ON_DEVICE(((void)piece; (void)own; (void)out; (void)column; (void)consume;))
    });
  }

  /// function(first pack) for each pass over the columns, if these do not stand within the inner:
  /// what a thread knows of its piece is read again then, and takes no registers in between.
  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_pass(Function const& function) const {
    if constexpr (passes_outside)
      for (int first = 0; first < inner.packs_of_row(); first += inner.packs_of_pass())
        function(first);
    else
      function(0);
  }

  void launch(Exec const& exec, char const* label, LaunchShape const& shape) const {
    if (shape.teams == 0) return;
    Policy policy(exec, static_cast<int>(shape.teams), shape.team_size, shape.vector_length);
    auto const team_bytes = static_cast<int>(epilogue.scratch_bytes(shape.team_size));
    int thread_bytes = 0;
    if constexpr (requires { inner.scratch_bytes_of_thread(); })
      thread_bytes = static_cast<int>(inner.scratch_bytes_of_thread());
    else
      thread_bytes = static_cast<int>(Inner::thread_scratch_bytes);
    if (team_bytes + thread_bytes > 0)
      policy.set_scratch_size(0, Kokkos::PerTeam(team_bytes), Kokkos::PerThread(thread_bytes));
    if constexpr (requires { Inner::occupancy; })  // what scratch leaves is first-level cache
      Kokkos::parallel_for(label,
                           Kokkos::Experimental::prefer(
                               policy, Kokkos::Experimental::DesiredOccupancy{Inner::occupancy}),
                           *this);
    else
      Kokkos::parallel_for(label, policy, *this);
  }
};

}  // namespace blockspan::detail
