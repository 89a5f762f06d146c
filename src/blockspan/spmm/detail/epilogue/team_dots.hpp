#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Scratch of a team for TeamDots, with what alignment may take.
template <class Scalar>
std::size_t team_dots_bytes(int team_size, std::int64_t columns) {
  constexpr std::size_t slack = 64;
  return static_cast<std::size_t>(team_size) * static_cast<std::size_t>(columns) *
             (sizeof(Scalar) + sizeof(real_t<Scalar>)) +
         slack;
}

/// The sums of the rows of a team: a row of scratch for each of its threads, in which a vector lane
/// owns the columns that it finishes. In the end the threads are added pairwise, in an order that
/// the team size fixes. Keeps one pointer while the rows are multiplied: registers are scarce
/// there.
template <class Epilogue, class Scalar, class Team>
class TeamDots {
 public:
  using Real = real_t<Scalar>;

  /// All lanes of the team call this together.
  KOKKOS_FORCEINLINE_FUNCTION TeamDots(Epilogue const& epilogue, Team const& team)
      : epilogue_(epilogue), team_(team) {
    auto const bytes = static_cast<std::size_t>(count()) * (sizeof(Scalar) + sizeof(Real));
    x_dot_y_ = static_cast<Scalar*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count()), [&](int i) {
      x_dot_y_[i] = Scalar(0);
      y_dot_y()[i] = Real(0);
    });
    team.team_barrier();
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    int const place = team_.team_rank() * columns() + static_cast<int>(column);
    epilogue_.template finish<Width>(row, column, sum, x_dot_y_ + place, y_dot_y() + place);
  }

  /// After the last row of the team, by all its lanes together.
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {
    epilogue_.finish_stores();
    team_.team_barrier();
    for (int threads = team_.team_size(); threads > 1;) {
      int const half = (threads + 1) / 2;
      int const shift = half * columns();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, threads * columns() - shift), [&](int i) {
        x_dot_y_[i] += x_dot_y_[i + shift];
        y_dot_y()[i] += y_dot_y()[i + shift];
      });
      team_.team_barrier();
      threads = half;
    }
    std::int64_t const place = std::int64_t{team_.league_rank()} * columns();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, columns()), [&](int j) {
      epilogue_.x_dot_y[place + j] = x_dot_y_[j];
      epilogue_.y_dot_y[place + j] = y_dot_y()[j];
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int columns() const { return static_cast<int>(epilogue_.Y.columns); }
  KOKKOS_FORCEINLINE_FUNCTION int count() const { return team_.team_size() * columns(); }
  KOKKOS_FORCEINLINE_FUNCTION Real* y_dot_y() const {
    return reinterpret_cast<Real*>(x_dot_y_ + count());
  }

  Epilogue const& epilogue_;
  Team const& team_;
  Scalar* x_dot_y_;  ///< team size x columns, and behind it y_dot_y
};

/// The sums of one cut row: its own row of partial sums, each element of which one lane makes.
template <class Epilogue>
struct CutRowDots {
  Epilogue const& epilogue;
  std::int64_t partial;

  template <class Scalar, int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    std::int64_t const place = partial * epilogue.Y.columns + column;
    for (int j = 0; j < Width; ++j) {
      epilogue.x_dot_y[place + j] = Scalar(0);
      epilogue.y_dot_y[place + j] = real_t<Scalar>(0);
    }
    epilogue.template finish<Width>(row, column, sum, epilogue.x_dot_y + place,
                                    epilogue.y_dot_y + place);
  }
};

}  // namespace blockspan::detail
