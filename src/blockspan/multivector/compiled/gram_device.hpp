#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/compiled/device_tiles.hpp>
#include <blockspan/multivector/compiled/gram_tensor.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::multivector {

/// One partial Gram matrix (or a 64 x 64 tile of it) per chunk of rows and team. Rows of X and Y
/// are staged in scratch; each of g groups of threads sums every g-th row, a thread holds a 4 x 4
/// tile, and the groups are added by a tree at the end. Traffic: both blocks once for up to 64 real
/// columns.
template <class Exec, class Scalar>
struct DeviceGram {
  using Real = real_t<Scalar>;
  using Policy = device::Policy<Exec>;
  static constexpr int edge = device::edge, pad = device::Vector<Real>::size;

  RealView<Scalar> X, Y;
  RowChunks rows;
  int chunks, m, n;     ///< m, n: real columns rounded up to whole tiles
  Real const* weights;  ///< of the rows of Y, or null
  bool same;
  Real* partials;  ///< chunks x m x n

  DeviceGram(BlockRef<Scalar const> const& X_block, BlockRef<Scalar const> const& Y_block,
             RowChunks const& rows_, Real const* weights_)
      : X(X_block),
        Y(Y_block),
        rows(rows_),
        chunks(static_cast<int>(rows.count())),
        m(ceil_div(X.columns, edge) * edge),
        n(ceil_div(Y.columns, edge) * edge),
        weights(weights_),
        same(!weights && X.data == Y.data && X.row_stride == Y.row_stride &&
             X.column_stride == Y.column_stride && X.columns == Y.columns) {}

  KOKKOS_FUNCTION int tiles_across() const { return ceil_div(n, device::block); }
  int tiles() const { return ceil_div(m, device::block) * tiles_across(); }
  std::int64_t partials_size() const { return std::int64_t(chunks) * m * n; }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    int const c = team.league_rank() % chunks, tile = team.league_rank() / chunks;
    int const i = tile / tiles_across() * device::block, j = tile % tiles_across() * device::block;
    int const height = device::smaller(m - i, device::block),
              width = device::smaller(device::block, n - j);
    int const across = width / edge, group_size = height / edge * across;
    int const groups = device::threads / group_size;
    int const rank = team.team_rank(), group = rank / group_size, place = rank % group_size;
    int const a = place / across * edge, b = place % across * edge;
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(scratch_bytes(), 16));
    Real sums[edge][edge] = {};
    std::int64_t const first = rows.first(c), last = rows.last(c);
    bool const shared = same && i == j;
    int const ld_x = height + pad, ld_y = shared ? ld_x : width + pad;
    int const at_once = device::staged<Real> / (shared ? ld_x : ld_x + ld_y);
    Real* const x = scratch;
    Real* const y = shared ? x : x + at_once * ld_x;
    for (std::int64_t row = first; row < last; row += at_once) {
      int const count = static_cast<int>(device::smaller<std::int64_t>(at_once, last - row));
      auto const into = [](Real* to, int ld) {
        return [=](int r, int col, Real value) { to[r * ld + col] = value; };
      };
      device::stage(X, rank, row, count, count, i, height, into(x, ld_x));
      if (!shared && !weights) device::stage(Y, rank, row, count, count, j, width, into(y, ld_y));
      if (weights) {
        Real const* const w = weights + row;
        device::stage(Y, rank, row, count, count, j, width,
                      [=](int r, int col, Real value) { y[r * ld_y + col] = w[r] * value; });
      }
      team.team_barrier();
      if (group < groups)
        for (int r = group; r < count; r += groups)
          add_row(x + r * ld_x + a, y + r * ld_y + b, sums);
      team.team_barrier();
    }
    add_groups(team, scratch, group, groups, group_size, sums);
    if (group == 0) {
      Real* const g = partials + (std::int64_t(c) * m + i + a) * n + j + b;
      for (int p = 0; p < edge; ++p)
        for (int q = 0; q < edge; ++q) g[std::int64_t(p) * n + q] = sums[p][q];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add_row(Real const* x, Real const* y,
                                                  Real (&sums)[edge][edge]) {
    Real left[edge], right[edge];
    device::load_edge(x, left);
    device::load_edge(y, right);
    for (int p = 0; p < edge; ++p)
      for (int q = 0; q < edge; ++q) sums[p][q] += left[p] * right[q];
  }

  /// Adds the sums of all groups into group 0, one row of the tile at a time to keep the scratch
  /// small.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static void add_groups(Team const& team, Real* scratch, int group,
                                                     int groups, int group_size,
                                                     Real (&sums)[edge][edge]) {
    int const rank = team.team_rank();
    int half = 1;
    while (2 * half < groups) half *= 2;
    for (; half > 0 && groups > 1; half /= 2) {
      bool const gives = group >= half && group < 2 * half && group < groups;
      bool const takes = group < half && group + half < groups;
      if (gives)
        for (int e = 0; e < edge * edge; ++e)
          scratch[e * device::threads + rank] = sums[e / edge][e % edge];
      team.team_barrier();
      if (takes)
        for (int e = 0; e < edge * edge; ++e)
          sums[e / edge][e % edge] += scratch[e * device::threads + rank + half * group_size];
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    constexpr int sums = edge * edge * device::threads * static_cast<int>(sizeof(Real));
    return static_cast<std::size_t>(sums > device::staged_bytes ? sums : device::staged_bytes);
  }

  void launch(Exec const& exec) const {
    if (chunks == 0) return;
    Policy policy(exec, chunks * tiles(), device::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::gram", policy, *this);
  }
};

/// The nodes of the partial matrices that a rank contributes: 32 threads share the chunks of an
/// entry.
template <class Exec, class Scalar>
struct DeviceGramSum {
  using Real = real_t<Scalar>;
  using Policy = device::Policy<Exec>;
  static constexpr int slices = 32, entries = device::threads / slices;

  Real const* partials;
  LocalSubtrees given;
  int m, n;
  GramNodes<Scalar> nodes;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto* const sums = static_cast<Scalar*>(
        team.team_scratch(0).get_shmem_aligned(device::threads * sizeof(Scalar), 16));
    int const rank = team.team_rank(), slice = rank / entries;
    BlockRef<Scalar> G = nodes.first;
    int const k = team.league_rank() / teams(), tile = team.league_rank() % teams();
    std::int64_t const entry = std::int64_t(tile) * entries + rank % entries;
    bool const inside = entry < G.rows * G.columns;
    std::int64_t const i = entry / G.columns, j = entry % G.columns;
    std::int64_t const begin = given.first(k), chunks = given.leaves(k);
    std::int64_t const share = terms_of_thread(chunks, slices), first = slice * share;
    std::int64_t const last = chunks - first < share ? chunks : first + share;
    if (inside && first < chunks)
      sums[rank] = join_range<AddTerms, Scalar>(
          first, last, [&](std::int64_t c) { return part(begin + c, i, j); });
    join_in_scratch<AddTerms, 1>(team, inside ? slice : slices, sums + rank % entries, entries, 0,
                                 static_cast<int>(ceil_div(chunks, share)));
    G.data += k * nodes.apart;
    if (inside && slice == 0) G(i, j) = chunks > 0 ? sums[rank] : Scalar(0);
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar part(std::int64_t c, std::int64_t i, std::int64_t j) const {
    constexpr int p = parts<Scalar>;
    Real const* const g = partials + (c * m + p * i) * n + p * j;
    if constexpr (p == 2)
      return Scalar(g[0] + g[n + 1], g[1] - g[n]);
    else
      return g[0];
  }

  KOKKOS_FUNCTION int teams() const {
    return static_cast<int>(
        ceil_div(nodes.first.rows * nodes.first.columns, std::int64_t(entries)));
  }

  void launch(Exec const& exec) const {
    if (given.count == 0) return;
    Policy policy(exec, teams() * given.count, device::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(device::threads * sizeof(Scalar) + 64));
    Kokkos::parallel_for("Blockspan::gram_sum", policy, *this);
  }
};

/// X^H Y (with row weights, if given) and, if `Z` is given (with the columns of Y), X^H Z, by
/// TensorGram. Returns false, without any work, if it does not support these blocks.
template <class Exec, class Scalar>
bool grams_on_tensor_cores(Exec const& exec, BlockRef<Scalar const> const& X,
                           BlockRef<Scalar const> const& Y, GramNodes<Scalar> const& G,
                           BlockRef<Scalar const> const* Z, GramNodes<Scalar> const* H,
                           double const* weights, Workspace<Exec>& workspace) {
  RealView<Scalar> const x(X), y(Y), z(Z ? *Z : Y);
  if (!tensor::fits(x) || !tensor::fits(y) || !tensor::fits(z)) return false;
  tensor::Rows const right[] = {tensor::rows_of(y), tensor::rows_of(z)};
  int const results = Z ? 2 : 1;
  RowChunks const chunks = local_chunks(X.rows, workspace);
  LocalSubtrees const given(workspace.rows(), chunks.count(), chunks.size);
  bool done = false;
  with_gram_tiles(x.columns, y.columns, results, [&](auto tiles) {
    using Kernel = TensorGram<Exec, decltype(tiles)::M, decltype(tiles)::N>;
    Kernel kernel(tensor::rows_of(x), right, results, chunks, weights);
    if (!kernel.fits()) return;
    kernel.partials =
        workspace.template device<double>(exec, Workspace<Exec>::partials, kernel.partials_size());
    kernel.launch(exec);
    int const m = results * kernel.height(), n = kernel.width();
    DeviceGramSum<Exec, Scalar>{kernel.partials, given, m, n, G}.launch(exec);
    if (Z)
      DeviceGramSum<Exec, Scalar>{kernel.partials + kernel.result_size(), given, m, n, *H}.launch(
          exec);
    done = true;
  });
  return done;
}

template <class Exec, class Scalar>
void gram_on_device(Exec const& exec, BlockRef<Scalar const> const& X,
                    BlockRef<Scalar const> const& Y, GramNodes<Scalar> const& G,
                    Workspace<Exec>& workspace, real_t<Scalar> const* weights = nullptr) {
  if constexpr (tensor::available<Exec, real_t<Scalar>>)
    if (grams_on_tensor_cores<Exec, Scalar>(exec, X, Y, G, nullptr, nullptr, weights, workspace))
      return;
  RowChunks const chunks = local_chunks(X.rows, workspace);
  DeviceGram<Exec, Scalar> kernel(X, Y, chunks, weights);
  kernel.partials = workspace.template device<real_t<Scalar>>(exec, Workspace<Exec>::partials,
                                                              kernel.partials_size());
  kernel.launch(exec);
  LocalSubtrees const given(workspace.rows(), chunks.count(), chunks.size);
  DeviceGramSum<Exec, Scalar>{kernel.partials, given, kernel.m, kernel.n, G}.launch(exec);
}

/// Both products in one pass on tensor cores where Y and Z have the same number of columns, else
/// one after the other.
template <class Exec, class Scalar>
void gram_pair_on_device(Exec const& exec, BlockRef<Scalar const> const& X,
                         BlockRef<Scalar const> const& Y, GramNodes<Scalar> const& G,
                         BlockRef<Scalar const> const& Z, GramNodes<Scalar> const& H,
                         Workspace<Exec>& workspace) {
  if constexpr (tensor::available<Exec, real_t<Scalar>>)
    if (Y.columns == Z.columns &&
        grams_on_tensor_cores<Exec, Scalar>(exec, X, Y, G, &Z, &H, nullptr, workspace))
      return;
  gram_on_device(exec, X, Y, G, workspace);
  gram_on_device(exec, X, Z, H, workspace);
}

}  // namespace blockspan::multivector
