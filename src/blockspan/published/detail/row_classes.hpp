#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/published/detail/cut_tiles.hpp>
#include <blockspan/published/detail/tuning.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/pack_access.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/team_kernel.hpp>
#include <blockspan/spmm/detail/tuning.hpp>

namespace blockspan::detail {

/// A team's way with a tile depends on its class (Greathouse, Daga 2014; Daga, Greathouse 2015).
///
/// Many short rows (Stream): one pack of columns: the products go to scratch, all lanes at once,
/// and one or several lanes sum a row from there. More packs: the entries go to scratch, and lanes
/// take (row, pack) by turns. One row, or a part of one (Vector, VectorL): the lanes stand over
/// packs and entries, and add up in scratch, halving by halving: a fixed order.
template <class Scalar, class Ordinal, int Width, bool Wide>
struct RowClasses {
  static constexpr bool splits_rows = true;
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr int capacity = 2 * tuning::team_stream;  ///< entries of a tile of short rows
  using PackSum = Sum<Scalar, Width>;

  CutTiles<Scalar, Ordinal> tiles;
  AnyEntries<Scalar, Ordinal> entries;
  PackAccess<Scalar, Width, Wide> X;
  int packs;      ///< in a row of X
  int pack_bits;  ///< one row: 2^pack_bits lanes stand side by side over the packs
  int workers;    ///< lanes of a team, a power of two >= 2^pack_bits
  bool on_lanes;  ///< which can exchange numbers

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
    if (parts == 0) return;
    if (parts == 1)
      one_row(team, tiles.part(tile, 0), consume);
    else if (packs == 1)
      short_rows_one_pack(team, tile, parts, consume);
    else
      short_rows(team, tile, parts, consume);
  }

 private:
  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void one_row(Team const& team, Piece const& piece,
                                           Consume const& consume) const {
    auto* const partial = team_array<PackSum>(team, workers);
    int const lanes = 1 << pack_bits, groups = workers >> pack_bits;
    for (int first = 0; first < packs; first += lanes) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, workers), [&](int worker) {
        int const pack = first + (worker & (lanes - 1));
        PackSum sum{};
        if (pack < packs)
          for_each_entry(piece.first, worker >> pack_bits, piece.last - piece.first, groups, pack,
                         [&](int, Scalar const& a, auto const& x) { add(a, x, sum); });
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
    int const begin = tiles.entry[tile];
    int const count = tiles.entry[tile + 1] - begin;
    int bits = 0;  // where rows are few, several lanes add one up
    while (on_lanes && bits < tuning::device_lane_bits &&
           (parts << (bits + 1)) <= tuning::team_stream_lanes)
      ++bits;
    int const lanes = 1 << bits, items = static_cast<int>(parts) * lanes;
    int const rank = team.team_rank(), size = team.team_size();
    // asked for before it is needed
    auto const own = tiles.part(tile, (rank < items ? rank : items - 1) >> bits);
    for_each_entry(begin, rank, count, size, 0, [&](int i, Scalar const& a, auto const& x) {
      PackSum product{};
      add(a, x, product);
      products[i] = product;
    });
    team.team_barrier();
    for (int item = rank; item < items; item += size) {
      auto const piece = item == rank ? own : tiles.part(tile, item >> bits);
      int const k = piece.first - begin + (item & (lanes - 1));
      PackSum sum = sum_of(products, k, piece.last - begin, lanes);
      for (int mask = 1; mask < lanes; mask *= 2)
        for (int j = 0; j < Width; ++j) sum.value[j] += exchange(sum.value[j], mask, lanes);
      if ((item & (lanes - 1)) == 0) consume(piece, 0, sum);
    }
  }

  /// Of the numbers first, first + stride, ... < last, in this order; several loads at a time.
  static KOKKOS_FORCEINLINE_FUNCTION PackSum sum_of(PackSum const* numbers, int first, int last,
                                                    int stride) {
    constexpr int in_flight = 8;
    PackSum sum{};
    int k = first;
    BLOCKSPAN_ROLLED
    for (; k + (in_flight - 1) * stride < last; k += in_flight * stride) {
      PackSum some[in_flight];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) some[u] = numbers[k + u * stride];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u)
        for (int j = 0; j < Width; ++j) sum.value[j] += some[u].value[j];
    }
    BLOCKSPAN_ROLLED
    for (; k < last; k += stride)
      for (int j = 0; j < Width; ++j) sum.value[j] += numbers[k].value[j];
    return sum;
  }

  template <class Pack>
  static KOKKOS_FORCEINLINE_FUNCTION void add(Scalar const& a, Pack const& x, PackSum& sum) {
    for (int j = 0; j < Width; ++j) sum.value[j] += a * x.value[j];
  }

  /// use(i, value, pack of X) for the entries begin + i, i = first, first + stride, ... < count:
  /// the loads of several are on their way together.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_entry(int begin, int first, int count, int stride,
                                                  int pack, Use const& use) const {
    if (entries.permutation == nullptr)
      for_each_entry_of<false>(begin, first, count, stride, pack, use);
    else
      for_each_entry_of<true>(begin, first, count, stride, pack, use);
  }
  template <bool Permuted, class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_entry_of(int begin, int first, int count, int stride,
                                                     int pack, Use const& use) const {
    constexpr int in_flight = tuning::team_stream_depth;
    BLOCKSPAN_ROLLED
    for (int i = first; i < count; i += in_flight * stride) {
      Scalar a[in_flight];
      Ordinal row[in_flight];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) {
        int const at = i + u * stride;  // past the end one is loaded again
        int const k = begin + (at < count ? at : i);
        row[u] = entries.column(k);
        a[u] = load(entries.values + (Permuted ? load(entries.permutation + k) : k));
      }
      decltype(X(row[0], pack)) x[in_flight];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) x[u] = X(row[u], pack);
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u)
        if (i + u * stride < count)
          use(i + u * stride, conjugate_if(entries.conjugate_values, a[u]), x[u]);
    }
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void short_rows(Team const& team, std::int64_t tile,
                                              std::int64_t parts, Consume const& consume) const {
    auto* const values = team_array<Scalar>(team, capacity);
    auto* const columns = team_array<Ordinal>(team, capacity);
    int const begin = tiles.entry[tile];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, tiles.entry[tile + 1] - begin), [&](int i) {
      values[i] = entries.value(begin + i);
      columns[i] = entries.column(begin + i);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<int>(parts) * packs),
                         [&](int item) {
                           auto const piece = tiles.part(tile, item / packs);
                           int const pack = item % packs;
                           PackSum sum{};
                           for (int k = piece.first; k < piece.last; ++k)
                             X.add_product(values[k - begin], columns[k - begin], pack, sum);
                           consume(piece, std::int64_t{pack} * Width, sum);
                         });
  }
};

}  // namespace blockspan::detail
