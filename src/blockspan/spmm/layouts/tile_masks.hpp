#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// A team thread a row, whose lanes set the bits of its entries. Counts those that are set already.
template <class Exec, class Ordinal>
struct WriteMasks {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Team = typename Policy::member_type;
  static constexpr int lanes = 32, team_rows = 8;
  PatternRef<int, Ordinal> A;
  TileMasks<Exec> masks;
  std::int64_t tiles;  ///< of a row

  KOKKOS_FUNCTION void operator()(Team const& team, std::int64_t& twice) const {
    constexpr std::int64_t rows = tuning::shared_window_rows, wide = tuning::shared_window_columns;
    std::int64_t const row = std::int64_t{team.league_rank()} * team_rows + team.team_rank();
    if (row >= A.rows) return;
    std::int64_t found = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, A.row_offsets[row], A.row_offsets[row + 1]),
        [&](int k, std::int64_t& sum) {
          std::int64_t const column = A.column_indices[k];
          std::int64_t const mask = (row / rows * tiles + column / wide) * rows + row % rows;
          std::uint64_t const bit = std::uint64_t{1} << (column % wide);
          sum += (Kokkos::atomic_fetch_or(&masks(mask), bit) & bit) != 0;
        },
        found);
    Kokkos::single(Kokkos::PerThread(team), [&] { twice += found; });
  }
};

/// Empty where a row has a column twice. A pass over the entries: O(rows x columns / 64 +
/// nonzeros). Waits for the instance.
template <class Exec, class Ordinal>
TileMasks<Exec> find_tile_masks(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  using Write = WriteMasks<Exec, Ordinal>;
  std::int64_t const tiles = ceil_div(A.columns, std::int64_t{tuning::shared_window_columns});
  std::int64_t const blocks = ceil_div(A.rows, std::int64_t{tuning::shared_window_rows});
  std::int64_t const teams = ceil_div(A.rows, std::int64_t{Write::team_rows});
  if (teams == 0 || teams > INT_MAX) return {};
  auto const masks = allocate<TileMasks<Exec>>(exec, "Blockspan::spmm_plan::tile_bits",
                                               blocks * tiles * tuning::shared_window_rows);
  Kokkos::deep_copy(exec, masks, std::uint64_t{0});
  std::int64_t twice = 0;
  Kokkos::parallel_reduce(
      "Blockspan::spmm_plan::write_bits",
      typename Write::Policy(exec, static_cast<int>(teams), Write::team_rows, Write::lanes),
      Write{A, masks, tiles}, twice);
  return twice > 0 ? TileMasks<Exec>{} : masks;
}

}  // namespace blockspan::products
