#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/row_chunks.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Adds `Count` numbers (a power of two) over the threads of a warp whose places differ in the bits
/// mask, 2 mask, ..., neighbours first, and calls keep(q, sum) once for the q-th. In each step a
/// thread gives away half of what it has, so that few numbers are exchanged: they take the way of
/// the loads, which the product needs. `held`: the first of the numbers it has; `own`: no other
/// thread has the same.
template <int Count, class Real, class Keep>
KOKKOS_FORCEINLINE_FUNCTION void add_over_warp(Real* numbers, int mask, int place, int held,
                                               bool own, Keep const& keep) {
  if constexpr (Count > 1) {
    if (mask < 1 << tuning::device_lane_bits) {
      constexpr int half = Count / 2;
      bool const upper = (place & mask) != 0;
      BLOCKSPAN_UNROLL
      for (int q = 0; q < half; ++q) {
        Real const kept = upper ? numbers[half + q] : numbers[q];
        Real const given = upper ? numbers[q] : numbers[half + q];
        numbers[q] = kept + exchange_in_warp(given, mask);
      }
      return add_over_warp<half>(numbers, 2 * mask, place, upper ? held + half : held, own, keep);
    }
  } else {
    for (; mask < 1 << tuning::device_lane_bits; mask *= 2) {
      numbers[0] += exchange_in_warp(numbers[0], mask);
      own = own && (place & mask) == 0;
    }
  }
  if (!own) return;
  BLOCKSPAN_UNROLL
  for (int q = 0; q < Count; ++q) keep(held + q, numbers[q]);
}

/// Warps of a team.
inline constexpr int dots_warps =
    static_cast<int>(tuning::device_threads) >> tuning::device_lane_bits;

/// Real numbers of a column: the parts of x_dot_y, and y_dot_y.
template <class Scalar, bool Squares>
inline constexpr int dots_numbers_v = (is_complex_v<Scalar> ? 2 : 1) + (Squares ? 1 : 0);

/// Scratch of WarpDots with so many columns a lane, and what alignment may take.
template <class Scalar, bool Squares>
std::size_t warp_dots_bytes(int columns_of_lane, LaneGrid const& grid) {
  constexpr std::size_t slack = 64;
  int const numbers =
      dots_warps * grid.columns() * columns_of_lane * dots_numbers_v<Scalar, Squares>;
  return static_cast<std::size_t>(numbers) * sizeof(real_t<Scalar>) + slack;
}

/// The sums over the rows of a team, for devices whose lanes exchange numbers, where one pass over
/// the columns is enough: a lane has those of its own packs in registers; then the rows of a warp
/// are added, neighbours first, then the warps. Where a thread has one row, the order so depends on
/// the places of the rows in the matrix only, not on how many of them a team has. Little scratch,
/// because what it takes the L1 cache lacks. One H200, 7-point 100^3, n = 8, microseconds: 84
/// without sums, 159 with a row of scratch for each thread.
template <class Epilogue, class Scalar, class Team, bool Squares, int Width, int Packs>
class WarpDots {
 public:
  using Real = real_t<Scalar>;

  KOKKOS_FORCEINLINE_FUNCTION WarpDots(Epilogue const& epilogue, Team const& team)
      : epilogue_(epilogue), team_(team) {}

  /// For each row i of the thread's piece; a column beyond the last: nothing is there.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int i, std::int64_t column,
                                              Sum<Scalar, Width> const& sum, int pack) {
    if (i == 0) {
      x_dot_y_[pack] = {};
      y_dot_y_[pack] = {};
    }
    if (column < epilogue_.Y.columns)
      epilogue_.template finish<Width>(row + i, column, sum, x_dot_y_[pack].value,
                                       y_dot_y_[pack].value);
  }

  /// By all lanes of the team together.
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {
    LaneGrid const grid = epilogue_.grid;
    int const step = grid.columns() * of_lane;  // from a warp's numbers to the next's
    auto* const scratch = static_cast<Real*>(team_.team_scratch(0).get_shmem_aligned(
        static_cast<std::size_t>(dots_warps * step) * sizeof(Real), 16));
    int const place = place_in_team(), lane = place & (grid.lanes() - 1);
    Real numbers[padded];
    collect(numbers);
    Real* const own =
        scratch + (place >> tuning::device_lane_bits) * step + grid.column_of(lane) * of_lane;
    add_over_warp<padded>(numbers, grid.lanes(), place, 0, grid.entry_of(lane) == 0,
                          [&](int q, Real sum) {
                            if (padded == of_lane || q < of_lane) own[q] = sum;
                          });
    team_.team_barrier();
    auto const count = static_cast<int>(epilogue_.Y.columns) * of_column;
    for (int item = place; item < count; item += static_cast<int>(tuning::device_threads)) {
      int const j = item / of_column, pack = j / Width;
      int const q = ((pack >> grid.column_bits) * Width + j % Width) * of_column + item % of_column;
      Real const* const first = scratch + (pack & (grid.columns() - 1)) * of_lane + q;
      epilogue_.keep_part(
          team_.league_rank(), j, item % of_column,
          join_eight<AddTerms, Real>(dots_warps, [&](int w) { return first[w * step]; }));
    }
  }

 private:
  static_assert(dots_warps <= 8);
  static constexpr int of_column = dots_numbers_v<Scalar, Squares>;
  static constexpr int of_lane = Packs * Width * of_column;
  static constexpr int padded = of_lane <= 1   ? 1
                                : of_lane <= 2 ? 2
                                : of_lane <= 4 ? 4
                                : of_lane <= 8 ? 8
                                               : 16;
  static_assert(of_lane <= padded);

  KOKKOS_FORCEINLINE_FUNCTION void collect(Real* numbers) const {
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Packs; ++s) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Width; ++j) {
        Real* const to = numbers + (s * Width + j) * of_column;
        to[0] = real_part(x_dot_y_[s].value[j]);
        if constexpr (is_complex_v<Scalar>) to[1] = imaginary_part(x_dot_y_[s].value[j]);
        if constexpr (Squares) to[of_column - 1] = y_dot_y_[s].value[j];
      }
    }
    BLOCKSPAN_UNROLL
    for (int q = of_lane; q < padded; ++q) numbers[q] = Real(0);
  }

  Epilogue const& epilogue_;
  Team const& team_;
  Sum<Scalar, Width> x_dot_y_[Packs] = {};
  Sum<Real, Width> y_dot_y_[Packs] = {};
};

}  // namespace blockspan::detail
