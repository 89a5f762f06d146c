#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/device_shape.hpp>
#include <blockspan/spmm/detail/team_kernel.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// Devices: to = from + beta to for blocks of any strides, a tile at a time through team scratch,
/// so that each of them is walked along its contiguous direction. Columns that `from` has not count
/// as zero; those that `to` has not are left out. Traffic: both once, `to` twice where beta is not
/// zero.
template <class Exec, class Scalar>
struct CopyBlock {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<tuning::device_threads>>;
  using Team = typename Policy::member_type;
  static constexpr int tile_entries = 1 << tuning::device_copy_bits;

  BlockRef<Scalar const> from;
  Scalar beta;
  BlockRef<Scalar> to;
  int column_bits;  ///< of a tile

  KOKKOS_FUNCTION int tile_columns() const { return 1 << column_bits; }
  KOKKOS_FUNCTION int tile_rows() const { return tile_entries >> column_bits; }
  /// A column of the tile and one number more: both directions avoid conflicts in scratch.
  KOKKOS_FUNCTION int place(int i, int j) const { return j * (tile_rows() + 1) + i; }
  KOKKOS_FUNCTION int scratch_entries() const { return tile_entries + tile_columns(); }

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    Scalar* const tile = team_array<Scalar>(team, scratch_entries());
    std::int64_t const row = std::int64_t{team.league_rank()} * tile_rows();
    for (std::int64_t column = 0; column < to.columns; column += tile_columns()) {
      for_each(team, from.column_stride == 1, row, column, [&](int i, int j) {
        tile[place(i, j)] = column + j < from.columns ? from(row + i, column + j) : Scalar(0);
      });
      team.team_barrier();
      for_each(team, to.column_stride == 1, row, column, [&](int i, int j) {
        Scalar& y = to(row + i, column + j);
        y = beta == Scalar(0) ? tile[place(i, j)] : tile[place(i, j)] + beta * y;
      });
      team.team_barrier();
    }
  }

  /// f(i, j) for the entries of the tile that begins at (row, column), along rows or columns.
  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Team const& team, bool along_rows, std::int64_t row,
                                            std::int64_t column, Function const& f) const {
    int const row_bits = tuning::device_copy_bits - column_bits;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile_entries), [&](int entry) {
      int const i = along_rows ? entry >> column_bits : entry & (tile_rows() - 1);
      int const j = along_rows ? entry & (tile_columns() - 1) : entry >> row_bits;
      if (row + i < to.rows && column + j < to.columns) f(i, j);
    });
  }

  void launch(Exec const& exec, std::string const& label) const {
    auto const teams = static_cast<int>(ceil_div(to.rows, std::int64_t{tile_rows()}));
    Policy policy(exec, teams, static_cast<int>(tuning::device_threads), 1);
    policy.set_scratch_size(
        0,
        Kokkos::PerTeam(scratch_for(static_cast<std::size_t>(scratch_entries()) * sizeof(Scalar))));
    Kokkos::parallel_for(label, policy, *this);
  }
};

template <class Exec, class Scalar>
void copy_block(Exec const& exec, BlockRef<Scalar const> const& from, Scalar const& beta,
                BlockRef<Scalar> const& to, std::string const& label) {
  if (to.rows == 0) return;
  int const bits = bits_to_hold(to.columns, tuning::device_lane_bits);
  CopyBlock<Exec, Scalar>{from, beta, to, bits}.launch(exec, label);
}

}  // namespace blockspan::detail
