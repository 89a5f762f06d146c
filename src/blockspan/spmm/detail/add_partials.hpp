#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/dots.hpp>
#include <blockspan/spmm/detail/epilogue/pairwise.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Devices: adds partial sums down the columns, those of a column side by side, neighbours first at
/// every step: the result is that of one tree over all of them, whoever adds which. A team adds
/// `of_team` neighbours of one sum. Short loops: a kernel of microseconds mostly waits for its own
/// instructions.
template <class Exec, class Scalar>
struct AddPartials {
  static constexpr int threads = 1024, rounds = 2;
  static constexpr std::int64_t of_team = std::int64_t{8} * threads * rounds;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;
  using Team = typename Policy::member_type;

  DotRows<Scalar> from;
  std::int64_t count;  ///< rows of `from`
  DotRows<Scalar> to;  ///< a row for each `of_team` of them

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const columns = from.x_dot_y.columns, row = team.league_rank() / sums();
    std::int64_t const sum = team.league_rank() % sums();
    if (sum < columns)
      add(team, row, &from.x_dot_y(0, sum), &to.x_dot_y(row, sum));
    else
      add(team, row, &from.y_dot_y(0, sum - columns), &to.y_dot_y(row, sum - columns));
  }

  void launch(Exec const& exec, std::string const& label) const {
    std::int64_t const rows = count > 0 ? ceil_div(count, of_team) : 1;  // no sums add up to zero
    auto const teams = static_cast<int>(rows * sums());
    Policy policy(exec, teams, threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(rounds * threads * int(sizeof(Scalar)) + 64));
    Kokkos::parallel_for(label, policy, *this);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t sums() const {
    return from.x_dot_y.columns + (to.squares() ? from.y_dot_y.columns : 0);
  }

  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION void add(Team const& team, std::int64_t row, Number const* numbers,
                                       Number* result) const {
    auto* const scratch = static_cast<Number*>(
        team.team_scratch(0).get_shmem_aligned(rounds * threads * sizeof(Number), 16));
    int const rank = team.team_rank();
    std::int64_t const first = row * of_team;
    auto const mine = static_cast<int>(count - first < of_team ? count - first : of_team);
    for (int i = rank; i < rounds * threads; i += threads)
      scratch[i] =
          add_eight<Number>(mine - 8 * i, [&](int k) { return load(numbers + first + 8 * i + k); });
    for (int left = rounds * threads; left > 1; left = (left + 7) / 8) {
      team.team_barrier();
      Number const sum =
          add_eight<Number>(left - 8 * rank, [&](int k) { return scratch[8 * rank + k]; });
      team.team_barrier();
      if (8 * rank < left) scratch[rank] = sum;
    }
    if (rank == 0) *result = scratch[0];
  }
};

/// Rows of sums between `count` partial sums and the result.
template <class Exec, class Scalar>
std::int64_t steps_of_partials(std::int64_t count) {
  constexpr std::int64_t of_team = AddPartials<Exec, Scalar>::of_team;
  return count <= of_team ? 0 : ceil_div(count, of_team);
}

/// result = the sums over `count` rows of partial sums, zero if there are none. `spare`: memory for
/// steps_of_partials rows; the partial sums are overwritten where that is not enough.
template <class Exec, class Scalar>
void add_partials(Exec const& exec, std::string const& label, DotRows<Scalar> from,
                  std::int64_t count, DotRows<Scalar> spare, DotRows<Scalar> const& result) {
  using Kernel = AddPartials<Exec, Scalar>;
  for (; count > Kernel::of_team; count = ceil_div(count, Kernel::of_team)) {
    Kernel{from, count, spare}.launch(exec, label);
    std::swap(from, spare);
  }
  Kernel{from, count, result}.launch(exec, label);
}

}  // namespace blockspan::detail
