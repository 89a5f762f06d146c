#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/pack_access.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/schedule/cut_tiles.hpp>
#include <blockspan/spmm/detail/team_kernel.hpp>
#include <blockspan/spmm/detail/tuning.hpp>

namespace blockspan::detail {

/// A team's way with a tile depends on its class (Greathouse, Daga 2014; Daga, Greathouse 2015).
///
/// Many short rows (Stream): one pack of columns: the products go to scratch, all lanes at once,
/// and a thread sums a row from there. More packs: the entries go to scratch, and lanes take (row,
/// pack) by turns. One row, or a part of one (Vector, VectorL): the lanes stand over packs and
/// entries, and add up in scratch, halving by halving: a fixed order.
template <class Scalar, class Offset, class Ordinal, int Width, bool Wide>
struct RowClasses {
  static constexpr bool splits_rows = true;
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr int capacity = 2 * tuning::team_stream;  ///< entries of a tile of short rows
  using PackSum = Sum<Scalar, Width>;

  CutTiles<Scalar, Offset, Ordinal> tiles;
  AnyEntries<Scalar, Offset, Ordinal> entries;
  PackAccess<Scalar, Width, Wide> X;
  int packs;      ///< in a row of X
  int pack_bits;  ///< one row: 2^pack_bits lanes stand side by side over the packs
  int workers;    ///< lanes of a team, a power of two >= 2^pack_bits

  std::size_t scratch_bytes() const {
    std::size_t const short_rows =
        packs == 1 ? capacity * sizeof(PackSum) : capacity * (sizeof(Scalar) + sizeof(Ordinal));
    std::size_t const one_row = static_cast<std::size_t>(workers) * sizeof(PackSum);
    return scratch_for(short_rows > one_row ? short_rows : one_row);
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Team const& team, Consume const& consume) const {
    std::int64_t const tile = team.league_rank();
    std::int64_t const parts = tiles.parts(tile);
    if (parts == 1)
      one_row(team, tiles.part(tile, 0), consume);
    else if (packs == 1)
      short_rows_one_pack(team, tile, parts, consume);
    else
      short_rows(team, tile, parts, consume);
  }

 private:
  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void one_row(Team const& team, Piece<Offset> const& piece,
                                           Consume const& consume) const {
    auto* const partial = team_array<PackSum>(team, workers);
    int const lanes = 1 << pack_bits, groups = workers >> pack_bits;
    for (int first = 0; first < packs; first += lanes) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, workers), [&](int worker) {
        int const pack = first + (worker & (lanes - 1));
        PackSum sum{};
        if (pack < packs)
          for (Offset k = piece.first + Offset(worker >> pack_bits); k < piece.last;
               k += static_cast<Offset>(groups))
            X.add_product(entries.value(k), entries.column(k), pack, sum);
        partial[worker] = sum;
      });
      team.team_barrier();
      for (int half = workers / 2; half >= lanes; half /= 2) {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, half), [&](int worker) {
          for (int j = 0; j < Width; ++j)
            partial[worker].value[j] += partial[worker + half].value[j];
        });
        team.team_barrier();
      }
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
        if (first + lane < packs) consume(piece, std::int64_t{first + lane} * Width, partial[lane]);
      });
      team.team_barrier();
    }
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void short_rows_one_pack(Team const& team, std::int64_t tile,
                                                       std::int64_t parts,
                                                       Consume const& consume) const {
    auto* const products = team_array<PackSum>(team, capacity);
    Offset const begin = tiles.entry[tile];
    Kokkos::parallel_for(
        Kokkos::TeamVectorRange(team, static_cast<int>(tiles.entry[tile + 1] - begin)), [&](int i) {
          PackSum product{};
          Offset const k = begin + Offset(i);
          X.add_product(entries.value(k), entries.column(k), 0, product);
          products[i] = product;
        });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<int>(parts)), [&](int p) {
      auto const piece = tiles.part(tile, p);
      PackSum sum{};
      for (Offset k = piece.first; k < piece.last; ++k)
        for (int j = 0; j < Width; ++j) sum.value[j] += products[k - begin].value[j];
      consume(piece, 0, sum);
    });
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void short_rows(Team const& team, std::int64_t tile,
                                              std::int64_t parts, Consume const& consume) const {
    auto* const values = team_array<Scalar>(team, capacity);
    auto* const columns = team_array<Ordinal>(team, capacity);
    Offset const begin = tiles.entry[tile];
    Kokkos::parallel_for(
        Kokkos::TeamVectorRange(team, static_cast<int>(tiles.entry[tile + 1] - begin)), [&](int i) {
          values[i] = entries.value(begin + Offset(i));
          columns[i] = entries.column(begin + Offset(i));
        });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<int>(parts) * packs),
                         [&](int item) {
                           auto const piece = tiles.part(tile, item / packs);
                           int const pack = item % packs;
                           PackSum sum{};
                           for (Offset k = piece.first; k < piece.last; ++k)
                             X.add_product(values[k - begin], columns[k - begin], pack, sum);
                           consume(piece, std::int64_t{pack} * Width, sum);
                         });
  }
};

}  // namespace blockspan::detail
