#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Scratch of TeamDots, with what alignment may take.
template <class Scalar>
std::size_t team_dots_bytes(std::int64_t columns) {
  constexpr std::size_t slack = 64;
  return static_cast<std::size_t>(columns) * (sizeof(Scalar) + sizeof(real_t<Scalar>)) + slack;
}

/// The sums over the rows of a team, for hosts, where a team is one thread: a row of scratch.
template <class Epilogue, class Scalar, class Team>
class TeamDots {
 public:
  using Real = real_t<Scalar>;

  KOKKOS_FORCEINLINE_FUNCTION TeamDots(Epilogue const& epilogue, Team const& team)
      : epilogue_(epilogue), team_(team), columns_(static_cast<int>(epilogue.Y.columns)) {
    auto const bytes = static_cast<std::size_t>(columns_) * (sizeof(Scalar) + sizeof(Real));
    x_dot_y_ = static_cast<Scalar*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    y_dot_y_ = reinterpret_cast<Real*>(x_dot_y_ + columns_);
    for (int j = 0; j < columns_; ++j) {
      x_dot_y_[j] = Scalar(0);
      y_dot_y_[j] = Real(0);
    }
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int i, std::int64_t column,
                                              Sum<Scalar, Width> const& sum, int) const {
    epilogue_.template finish<Width>(row + i, column, sum, x_dot_y_ + column, y_dot_y_ + column);
  }

  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {
    epilogue_.finish_stores();
    for (int j = 0; j < columns_; ++j)
      epilogue_.keep(team_.league_rank(), j, x_dot_y_[j], y_dot_y_[j]);
  }

 private:
  Epilogue const& epilogue_;
  Team const& team_;
  int columns_;
  Scalar* x_dot_y_;
  Real* y_dot_y_;
};

/// The sums of one cut row: partial sums of its own, each of which one lane makes.
template <class Epilogue>
struct CutRowDots {
  Epilogue const& epilogue;
  std::int64_t partial;

  template <class Scalar, int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    Scalar x_dot_y[Width] = {};
    real_t<Scalar> y_dot_y[Width] = {};
    epilogue.template finish<Width>(row, column, sum, x_dot_y, y_dot_y);
    for (int j = 0; j < Width; ++j) epilogue.keep(partial, column + j, x_dot_y[j], y_dot_y[j]);
  }
};

}  // namespace blockspan::detail
