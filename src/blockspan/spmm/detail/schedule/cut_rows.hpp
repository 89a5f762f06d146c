#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/schedule/carry.hpp>
#include <blockspan/spmm/detail/schedule/piece.hpp>

namespace blockspan::detail {

/// Pieces as a plan has cut them; the arrays belong to the plan. A piece that is a complete row is
/// written by the epilogue at once. The sums of a cut row's pieces go to the carry, one slot each,
/// and finish_rows adds them in the order of the slots: no atomics, the same bits on every run.
template <class Scalar, class Offset, class Ordinal>
struct CutRows : Carry<Scalar, Ordinal> {
  static constexpr bool splits_rows = true;

  PiecesOfTeam share;
  Ordinal const* target;  ///< pieces: see Piece::target
  Offset const* first;    ///< pieces
  Offset const* last;     ///< pieces (often first + 1: neighbouring pieces share an end)

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t p) {
      function(Piece<Offset>{static_cast<std::int64_t>(target[p]), first[p], last[p]});
    });
  }
};

/// The second pass of a schedule that cuts rows: one work item an element of a cut row of Y.
template <class Schedule, class Epilogue>
struct FinishRows {
  Schedule schedule;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const i = item / schedule.columns;
    std::int64_t const column = item % schedule.columns;
    using Scalar = std::remove_pointer_t<decltype(schedule.carry)>;
    Sum<Scalar, 1> sum{};
    for (std::int64_t slot = schedule.cut_slot[i]; slot < schedule.cut_slot[i + 1]; ++slot)
      sum.value[0] += schedule.carry[slot * schedule.columns + column];
    epilogue.of_cut_row(i)(static_cast<std::int64_t>(schedule.cut_row[i]), column, sum);
  }
};

template <class Exec, class Schedule, class Epilogue>
void finish_rows(Exec const& exec, Schedule const& schedule, Epilogue const& epilogue,
                 char const* label) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (schedule.cut_rows == 0) return;
  Kokkos::parallel_for(std::string(label) + "::finish_rows",
                       Policy(exec, 0, schedule.cut_rows * schedule.columns),
                       FinishRows<Schedule, Epilogue>{schedule, epilogue});
}

}  // namespace blockspan::detail
