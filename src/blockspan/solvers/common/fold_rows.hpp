#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/arithmetic.hpp>

// Folds terms down the columns of tall row-major blocks in two stages: chunks of rows, whose number
// depends on n only, then the chunks, both in an order that n fixes. So the result of a column
// depends neither on the number of threads nor on the columns beside it.
//
// Terms: the number of folds a column (`count`), operator()(i, j, terms) with the terms of an
// entry, and fold(total, term), for which zero is neutral. Terms that also write say what they read
// of a row by a type Operands and a function load: devices then load several rows before they
// write, which a compiler cannot do by itself where blocks might overlap.

namespace blockspan::detail {

template <class Terms>
concept LoadsFirst = requires {
  typename Terms::Operands;
};

/// chunks x (count * columns): number q of column j at q * columns + j.
template <class Exec, class Real>
using FoldedChunks =
    Kokkos::View<Real**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;

/// First stage, hosts: a thread a chunk of neighbouring rows, columns in the inner loop.
template <class Exec, class Terms>
struct FoldRowsOnHost {
  using Real = typename Terms::Real;
  static constexpr int tile = 8;
  static constexpr std::int64_t chunk = 1024;

  Terms terms;
  std::int64_t rows, columns, chunks;
  FoldedChunks<Exec, Real> partial;

  static std::int64_t chunks_of(std::int64_t rows) { return ceil_div(rows, chunk); }

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    std::int64_t j = 0;
    for (; j + tile <= columns; j += tile) fold_tile<tile>(c, j);
    if (j + 4 <= columns) fold_tile<4>(c, j), j += 4;
    if (j + 2 <= columns) fold_tile<2>(c, j), j += 2;
    if (j < columns) fold_tile<1>(c, j);
  }

  /// Constant widths, so that the compiler vectorizes along the rows.
  template <int width>
  KOKKOS_FUNCTION void fold_tile(std::int64_t c, std::int64_t first_column) const {
    std::int64_t const last = Kokkos::min(rows, (c + 1) * chunk);
    Real sums[Terms::count][width] = {};
    for (std::int64_t i = c * chunk; i < last; ++i)
      for (int t = 0; t < width; ++t) {
        Real term[Terms::count];
        if constexpr (LoadsFirst<Terms>)
          terms(i, first_column + t, terms.load(i, first_column + t), term);
        else
          terms(i, first_column + t, term);
        for (int q = 0; q < Terms::count; ++q) Terms::fold(sums[q][t], term[q]);
      }
    for (int q = 0; q < Terms::count; ++q)
      for (int t = 0; t < width; ++t) partial(c, q * columns + first_column + t) = sums[q][t];
  }

  void launch(Exec const& exec, char const* label) const {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, chunks), *this);
  }
};

/// First stage, devices: a group of threads a chunk and column, each with several rows in flight,
/// then the group by halves. A team has the columns of a tile side by side, and as many chunks as
/// its threads make groups.
///
/// What is only read lies in chunks of neighbouring rows; of what is written too, neighbouring
/// groups have neighbouring rows. One H200, 1e6 rows, p.q and p.p of 8 columns: 36 us neighbouring,
/// 45 dealt; R -= Q alpha with r.r: 71 and 50; of 32 columns 126 and 156, 202 and 204.
/// The rows in flight are the same for any number of columns, since the compiler's choice of fused
/// multiply-adds, and so the bits, depend on it.
template <class Exec, class Terms>
struct FoldRowsOnDevice {
  using Real = typename Terms::Real;
  static constexpr int threads = 512, group = 16, at_once = 4;
  static constexpr std::int64_t most_chunks = 1024, least_rows = 32;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;

  Terms terms;
  std::int64_t rows, columns, chunks;
  FoldedChunks<Exec, Real> partial;
  int tiles = 1, width = 1, chunks_of_team = 1;

  static std::int64_t chunks_of(std::int64_t rows) {
    return Kokkos::min(ceil_div(rows, least_rows), most_chunks);
  }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(scratch_bytes(), 16));
    int const rank = team.team_rank(), place = rank / width, member = place % group;
    std::int64_t const j = team.league_rank() % tiles * width + rank % width;
    std::int64_t const c =
        std::int64_t{team.league_rank() / tiles} * chunks_of_team + place / group;
    bool const busy = place < chunks_of_team * group && j < columns && c < chunks;
    Real sums[Terms::count] = {};
    if (busy) fold_member(c, member, j, sums);
    for (int q = 0; q < Terms::count; ++q) scratch[q * threads + rank] = sums[q];
    for (int half = group / 2; half > 0; half /= 2) {
      team.team_barrier();
      if (!busy || member >= half) continue;
      for (int q = 0; q < Terms::count; ++q)
        Terms::fold(scratch[q * threads + rank], scratch[q * threads + rank + half * width]);
    }
    if (!busy || member > 0) return;
    for (int q = 0; q < Terms::count; ++q)
      partial(c, q * columns + j) = scratch[q * threads + rank];
  }

  /// The rows of one thread of the group of chunk c.
  KOKKOS_FORCEINLINE_FUNCTION void fold_member(std::int64_t c, int member, std::int64_t j,
                                               Real (&sums)[Terms::count]) const {
    std::int64_t const span = ceil_div(rows, chunks);
    std::int64_t const last = LoadsFirst<Terms> ? rows : Kokkos::min(rows, (c + 1) * span);
    std::int64_t const step = LoadsFirst<Terms> ? chunks * group : group;
    std::int64_t i = c * (LoadsFirst<Terms> ? group : span) + member;
    for (; i + (at_once - 1) * step < last; i += at_once * step)
      fold_rows<at_once>(i, step, j, sums);
    for (; i < last; i += step) fold_rows<1>(i, step, j, sums);
  }

  template <int n>
  KOKKOS_FORCEINLINE_FUNCTION void fold_rows(std::int64_t i, std::int64_t step, std::int64_t j,
                                             Real (&sums)[Terms::count]) const {
    Real term[n][Terms::count];
    if constexpr (LoadsFirst<Terms>) {
      typename Terms::Operands operands[n];
      for (int d = 0; d < n; ++d) operands[d] = terms.load(i + d * step, j);
      for (int d = 0; d < n; ++d) terms(i + d * step, j, operands[d], term[d]);
    } else {
      for (int d = 0; d < n; ++d) terms(i + d * step, j, term[d]);
    }
    for (int d = 0; d < n; ++d)
      for (int q = 0; q < Terms::count; ++q) Terms::fold(sums[q], term[d][q]);
  }

  void launch(Exec const& exec, char const* label) {
    constexpr std::int64_t widest = threads / group;
    tiles = static_cast<int>(ceil_div(columns, widest));
    width = static_cast<int>(ceil_div(columns, std::int64_t{tiles}));
    chunks_of_team = threads / (width * group);
    auto const teams = static_cast<int>(ceil_div(chunks, std::int64_t{chunks_of_team})) * tiles;
    Policy policy(exec, teams, threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for(label, policy, *this);
  }

 private:
  KOKKOS_FUNCTION static constexpr int scratch_bytes() {
    return Terms::count * threads * static_cast<int>(sizeof(Real));
  }
};

/// First stage: {terms, rows, columns, chunks_of(rows), partial}.launch(exec, label).
template <class Exec, class Terms>
using FoldRows = std::conditional_t<std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>,
                                    FoldRowsOnHost<Exec, Terms>, FoldRowsOnDevice<Exec, Terms>>;

/// Folds the `value` of each of a team's threads (a power of two) by halves, into scratch[0]. The
/// first thread may read it at once.
template <class Team, class Real, class Fold>
KOKKOS_FORCEINLINE_FUNCTION void fold_team(Team const& team, Real* scratch, int threads, Real value,
                                           Fold const& fold) {
  int const rank = team.team_rank();
  scratch[rank] = value;
  for (int half = threads / 2; half > 0; half /= 2) {
    team.team_barrier();
    if (rank < half) fold(scratch[rank], scratch[rank + half]);
  }
}

/// Threads of a team that folds the chunks of a number: each takes every so manieth.
template <class Exec>
inline constexpr int fold_threads_v =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace> ? 1 : 256;

/// Second stage: a team for each number.
template <class Exec, class Terms>
struct FoldPartials {
  using Real = typename Terms::Real;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr int threads = fold_threads_v<Exec>;

  FoldedChunks<Exec, Real> from;
  Real* to;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    int const j = team.league_rank(), rank = team.team_rank();
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(threads * sizeof(Real), 16));
    Real total = 0;  // neutral: sums, and largest magnitudes
    for (std::int64_t c = rank; c < chunks; c += threads) Terms::fold(total, from(c, j));
    fold_team(team, scratch, threads, total, [](Real& all, Real more) { Terms::fold(all, more); });
    if (rank == 0) to[j] = scratch[0];
  }

  void launch(Exec const& exec, std::int64_t numbers) const {
    Policy policy(exec, static_cast<int>(numbers), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(threads * sizeof(Real) + 64));
    Kokkos::parallel_for("Blockspan::solvers::fold", policy, *this);
  }
};

}  // namespace blockspan::detail
