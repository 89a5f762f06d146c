#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/launch/scratch_pool.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/registers/unroll.hpp>

// Row-major copies of blocks of any strides.

namespace blockspan::products {

/// A row-major block in the pool's memory: valid until the next call with the same pool and
/// instance.
template <class Scalar, class Exec>
BlockRef<Scalar> row_major_scratch(Exec const& exec, ScratchPool<Exec>& pool, std::int64_t rows,
                                   std::int64_t columns) {
  auto const size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return {static_cast<Scalar*>(pool.reserve(exec, std::max<std::size_t>(size, 1) * sizeof(Scalar))),
          rows, columns, columns, 1};
}

/// `together` rows, column by column: both blocks stay in the cache.
template <class Scalar>
struct CopyRows {
  static constexpr std::int64_t together = tuning::host_packed_rows;
  BlockRef<Scalar const> from;
  BlockRef<Scalar> to;
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const first = item * together, last = Kokkos::min(first + together, to.rows);
    for (std::int64_t j = 0; j < to.columns; ++j)
      for (std::int64_t i = first; i < last; ++i) to(i, j) = from(i, j);
  }
};

/// X, row-major, in the pool's memory: valid until the next call with the same pool and instance.
template <class Exec, class Scalar>
BlockRef<Scalar const> row_major_copy(Exec const& exec, ScratchPool<Exec>& pool,
                                      BlockRef<Scalar const> const& X, std::string const& label) {
  auto const to = row_major_scratch<Scalar>(exec, pool, X.rows, X.columns);
  using Copy = CopyRows<Scalar>;
  Kokkos::parallel_for(label, IndexRange<Exec>(exec, 0, ceil_div(X.rows, Copy::together)),
                       Copy{X, to});
  return to;
}

/// Devices: to = from + beta to for blocks of any strides, a tile at a time through team scratch,
/// so that each of them is walked along its contiguous direction. Columns missing in `from` are
/// zero; those missing in `to` are skipped. Traffic: both once, `to` twice where beta is not zero.
template <class Exec, class Scalar>
struct RelayoutBlock {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<tuning::device_threads>>;
  using Team = typename Policy::member_type;
  static constexpr int tile_entries = 1 << tuning::device_copy_bits;
  static constexpr int threads = static_cast<int>(tuning::device_threads);
  static constexpr int each = tile_entries / threads;  ///< entries of a thread

  BlockRef<Scalar const> from;
  Scalar beta;
  BlockRef<Scalar> to;
  int column_bits;  ///< of a tile

  KOKKOS_FUNCTION int tile_columns() const { return 1 << column_bits; }
  KOKKOS_FUNCTION int tile_rows() const { return tile_entries >> column_bits; }
  /// A column of the tile and one element more: both directions avoid conflicts in scratch.
  KOKKOS_FUNCTION int place(int i, int j) const { return j * (tile_rows() + 1) + i; }
  KOKKOS_FUNCTION int scratch_entries() const { return tile_entries + tile_columns(); }
  KOKKOS_FUNCTION int tiles_of_row() const {
    return static_cast<int>(ceil_div(to.columns, std::int64_t{tile_columns()}));
  }

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    Scalar* const tile = team_array<Scalar>(team, scratch_entries());
    std::int64_t const row = std::int64_t{team.league_rank() / tiles_of_row()} * tile_rows();
    std::int64_t const column = std::int64_t{team.league_rank() % tiles_of_row()} * tile_columns();
    auto const left = Kokkos::min<std::int64_t>(to.rows - row, tile_rows());
    auto const wide = Kokkos::min<std::int64_t>(to.columns - column, tile_columns());
    auto const there = from.columns - column;  // of the columns of the tile
    Scalar taken[each];                        // all loads of a thread are in flight together
    BLOCKSPAN_UNROLL
    for (int k = 0; k < each; ++k) {
      auto const [i, j] = entry(team, k, from.column_stride == 1);
      taken[k] = i < left && j < there ? from(row + i, column + j) : Scalar(0);
    }
    BLOCKSPAN_UNROLL
    for (int k = 0; k < each; ++k) {
      auto const [i, j] = entry(team, k, from.column_stride == 1);
      tile[place(i, j)] = taken[k];
    }
    team.team_barrier();
    BLOCKSPAN_UNROLL
    for (int k = 0; k < each; ++k) {
      auto const [i, j] = entry(team, k, to.column_stride == 1);
      if (i >= left || j >= wide) continue;
      Scalar& y = to(row + i, column + j);
      y = beta == Scalar(0) ? tile[place(i, j)] : tile[place(i, j)] + beta * y;
    }
  }

  struct Entry {
    int i, j;
  };
  /// The k-th entry of a thread in the tile, whose entries go to threads along rows or columns.
  KOKKOS_FORCEINLINE_FUNCTION Entry entry(Team const& team, int k, bool along_rows) const {
    int const at = k * threads + team.team_rank();
    if (along_rows) return {at >> column_bits, at & (tile_columns() - 1)};
    return {at & (tile_rows() - 1), at >> (tuning::device_copy_bits - column_bits)};
  }

  void launch(Exec const& exec, std::string const& label) const {
    std::int64_t const teams = ceil_div(to.rows, std::int64_t{tile_rows()}) * tiles_of_row();
    Policy policy(exec, static_cast<int>(teams), threads, 1);  // an int: blocks fit in memory
    policy.set_scratch_size(
        0,
        Kokkos::PerTeam(scratch_for(static_cast<std::size_t>(scratch_entries()) * sizeof(Scalar))));
    Kokkos::parallel_for(label, policy, *this);
  }
};

template <class Exec, class Scalar>
void relayout_block(Exec const& exec, BlockRef<Scalar const> const& from, Scalar const& beta,
                    BlockRef<Scalar> const& to, std::string const& label) {
  if (to.rows == 0) return;
  int const bits = bits_to_hold(to.columns, tuning::device_lane_bits);
  RelayoutBlock<Exec, Scalar>{from, beta, to, bits}.launch(exec, label);
}

}  // namespace blockspan::products
