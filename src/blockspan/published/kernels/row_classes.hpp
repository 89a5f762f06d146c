#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/published/kernels/team_kernel.hpp>
#include <blockspan/published/menu/operands.hpp>
#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/cut_tiles.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>

namespace blockspan::published {

/// A team's way with a tile depends on its class (Greathouse, Daga 2014; Daga, Greathouse 2015).
///
/// Many short rows (Stream): one vector of columns: the products go to scratch, all lanes at once,
/// and one or several lanes sum a row from there. More vectors: the entries go to scratch, and
/// lanes alternate over (row, vector). One row, or a part of one (Vector, VectorL): the lanes are
/// over vectors and entries, and add up in scratch, halving by halving: a fixed order.
template <class Scalar, class Ordinal, int Width, bool Wide>
struct RowClasses {
  static constexpr bool splits_rows = true;
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr int capacity = 2 * tuning::team_stream;  ///< entries of a tile of short rows
  using VectorSum = Sum<Scalar, Width>;

  CutTiles<Scalar, Ordinal> tiles;
  AnyEntries<Scalar, Ordinal> entries;
  VectorAccess<Scalar, Width, Wide> X;
  int vectors;      ///< in a row of X
  int vector_bits;  ///< one row: 2^vector_bits lanes are over the vectors
  int workers;      ///< lanes of a team, a power of two >= 2^vector_bits
  bool on_lanes;    ///< which can exchange values

  std::size_t scratch_bytes() const {
    std::size_t const short_rows =
        vectors == 1 ? capacity * sizeof(VectorSum) : capacity * (sizeof(Scalar) + sizeof(Ordinal));
    std::size_t const one_row = static_cast<std::size_t>(workers) * sizeof(VectorSum);
    return scratch_for(short_rows > one_row ? short_rows : one_row);
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Team const& team, Consume const& consume) const {
    std::int64_t const tile = team.league_rank();
    std::int64_t const parts = tiles.parts(tile);
    if (parts == 0) return;
    if (parts == 1)
      one_row(team, tiles.part(tile, 0), consume);
    else if (vectors == 1)
      short_rows_one_vector(team, tile, parts, consume);
    else
      short_rows(team, tile, parts, consume);
  }

 private:
  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void one_row(Team const& team, RowSegment const& segment,
                                           Consume const& consume) const {
    auto* const partial = team_array<VectorSum>(team, workers);
    int const lanes = 1 << vector_bits, groups = workers >> vector_bits;
    for (int first = 0; first < vectors; first += lanes) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, workers), [&](int worker) {
        int const vector = first + (worker & (lanes - 1));
        VectorSum sum{};
        if (vector < vectors)
          for_each_entry(segment.first, worker >> vector_bits, segment.last - segment.first, groups,
                         vector, [&](int, Scalar const& a, auto const& x) { add(a, x, sum); });
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
        if (first + lane < vectors)
          consume(segment, std::int64_t{first + lane} * Width, partial[lane]);
      });
      team.team_barrier();
    }
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void short_rows_one_vector(Team const& team, std::int64_t tile,
                                                         std::int64_t parts,
                                                         Consume const& consume) const {
    auto* const products = team_array<VectorSum>(team, capacity);
    int const begin = tiles.entry[tile];
    int const count = tiles.entry[tile + 1] - begin;
    int bits = 0;  // where rows are few, several lanes add one up
    while (on_lanes && bits < tuning::device_lane_bits &&
           (parts << (bits + 1)) <= tuning::team_stream_lanes)
      ++bits;
    int const lanes = 1 << bits, items = static_cast<int>(parts) * lanes;
    int const rank = team.team_rank(), size = team.team_size();
    // loaded before it is needed
    auto const own = tiles.part(tile, (rank < items ? rank : items - 1) >> bits);
    for_each_entry(begin, rank, count, size, 0, [&](int i, Scalar const& a, auto const& x) {
      VectorSum product{};
      add(a, x, product);
      products[i] = product;
    });
    team.team_barrier();
    for (int item = rank; item < items; item += size) {
      auto const segment = item == rank ? own : tiles.part(tile, item >> bits);
      int const k = segment.first - begin + (item & (lanes - 1));
      VectorSum sum = sum_of(products, k, segment.last - begin, lanes);
      for (int mask = 1; mask < lanes; mask *= 2)
        for (int j = 0; j < Width; ++j) sum.value[j] += exchange(sum.value[j], mask, lanes);
      if ((item & (lanes - 1)) == 0) consume(segment, 0, sum);
    }
  }

  /// Of the values first, first + stride, ... < last, in this order; several loads at a time.
  static KOKKOS_FORCEINLINE_FUNCTION VectorSum sum_of(VectorSum const* numbers, int first, int last,
                                                      int stride) {
    constexpr int in_flight = 8;
    VectorSum sum{};
    int k = first;
    BLOCKSPAN_ROLLED
    for (; k + (in_flight - 1) * stride < last; k += in_flight * stride) {
      VectorSum some[in_flight];
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

  template <class Vector>
  static KOKKOS_FORCEINLINE_FUNCTION void add(Scalar const& a, Vector const& x, VectorSum& sum) {
    for (int j = 0; j < Width; ++j) sum.value[j] += a * x.value[j];
  }

  /// use(i, value, vector of X) for the entries begin + i, i = first, first + stride, ... < count:
  /// the loads of several are on their way together.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_entry(int begin, int first, int count, int stride,
                                                  int vector, Use const& use) const {
    if (entries.permutation == nullptr)
      for_each_entry_of<false>(begin, first, count, stride, vector, use);
    else
      for_each_entry_of<true>(begin, first, count, stride, vector, use);
  }
  template <bool Permuted, class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_entry_of(int begin, int first, int count, int stride,
                                                     int vector, Use const& use) const {
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
      decltype(X(row[0], vector)) x[in_flight];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) x[u] = X(row[u], vector);
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
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<int>(parts) * vectors),
                         [&](int item) {
                           auto const segment = tiles.part(tile, item / vectors);
                           int const vector = item % vectors;
                           VectorSum sum{};
                           for (int k = segment.first; k < segment.last; ++k)
                             X.add_product(values[k - begin], columns[k - begin], vector, sum);
                           consume(segment, std::int64_t{vector} * Width, sum);
                         });
  }
};

}  // namespace blockspan::published
