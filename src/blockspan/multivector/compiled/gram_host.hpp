#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/compiled/host_tiles.hpp>

namespace blockspan::multivector {

/// Partial Gram matrices of chunks of rows on hosts. A panel of rows that fits into the cache is
/// read for every register tile of the result. A task sums one chunk, or the chunks of a larger
/// node where there would be too many partial matrices.
template <class Exec, class Scalar>
struct HostGram {
  using Real = real_t<Scalar>;
  using Policy = Kokkos::TeamPolicy<Exec>;

  static constexpr std::int64_t most_partials = 512;

  RealView<Scalar> X, Y;
  RowChunks chunks;
  int level = 0;        ///< of the nodes, in the tree
  int m, n;             ///< rows and columns of a partial result, in whole tiles
  int panel_rows;       ///< rows of a panel
  Real const* weights;  ///< of the rows of Y, or null
  bool same;            ///< X^H X: tiles below the diagonal are skipped
  Real* partials;       ///< nodes x m x n

  HostGram(BlockRef<Scalar const> const& X_block, BlockRef<Scalar const> const& Y_block,
           Real const* weights_, RowChunks const& chunks_)
      : X(X_block),
        Y(Y_block),
        chunks(chunks_),
        m(round_up(X.columns, 2)),
        n(tiled_columns<Real>(Y.columns)),
        weights(weights_),
        same(!weights && X.data == Y.data && X.row_stride == Y.row_stride &&
             X.column_stride == Y.column_stride && X.columns == Y.columns) {
    int const row_bytes = (m + n) * static_cast<int>(sizeof(Real));
    // Panels of about equal height, at least 64 rows: each panel updates the whole partial result,
    // which for few rows of wide blocks would cost more than the cache saves.
    auto const fitting = std::clamp(32768 / row_bytes, 64, 256);
    panel_rows = static_cast<int>(ceil_div(chunks.size, ceil_div(chunks.size, fitting)));
    while (nodes() > most_partials) ++level;
  }

  std::int64_t nodes() const { return ceil_div(chunks.count(), std::int64_t{1} << level); }
  std::int64_t entries() const { return std::int64_t(m) * n; }
  std::int64_t partials_size() const { return nodes() * entries(); }

  KOKKOS_FUNCTION void operator()([[maybe_unused]] typename Policy::member_type const& team) const {
    KOKKOS_IF_ON_HOST((one_node(team);))
  }

  void one_node(typename Policy::member_type const& team) const {
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(1).get_shmem_aligned(scratch_bytes(), 64));
    std::int64_t const node = team.league_rank();
    add_node(node << level, level, partials + node * entries(), scratch);
  }

  /// g = the node of level l whose first chunk is c. Its right half is stored behind the panels.
  void add_node(std::int64_t c, int l, Real* g, Real* scratch) const {
    if (l == 0) return add_chunk(c, g, scratch);
    std::int64_t const middle = c + (std::int64_t{1} << (l - 1));
    add_node(c, l - 1, g, scratch);
    if (middle >= chunks.count()) return;
    Real* const right = scratch + panels_size() + (l - 1) * entries();
    add_node(middle, l - 1, right, scratch);
    for (std::int64_t e = 0; e < entries() / parts<Scalar>; ++e) g[e] += right[e];
  }

  void add_chunk(std::int64_t c, Real* g, Real* buffer) const {
    std::int64_t const first = chunks.first(c), last = chunks.last(c);
    std::fill(g, g + entries(), Real(0));
    int const x_width = same ? n : m;
    if (!readable(X, last, x_width)) clear_padding(X, panel_rows, x_width, buffer);
    if (!same && (weights || !readable(Y, last, n)))
      clear_padding(Y, panel_rows, n, buffer + std::int64_t(panel_rows) * m);
    for (std::int64_t row = first; row < last; row += panel_rows) {
      int const count = static_cast<int>(std::min<std::int64_t>(panel_rows, last - row));
      auto const x = panel(X, row, count, x_width, buffer);
      auto const y = right_panel(row, count, x, buffer + std::int64_t(panel_rows) * m);
      add_panel(count, x, y, g);
    }
    if constexpr (is_complex_v<Scalar>) assemble(g);
  }

  /// Combines the real and imaginary parts of complex entries in place, into m / 2 rows of n
  /// scalars.
  void assemble(Real* g) const {
    for (int i = 0; i < m / 2; ++i) {
      Real const *const re = g + 2 * i * std::int64_t(n), *const im = re + n;
      Real* const to = g + i * std::int64_t(n);
      for (int j = 0; j < n; j += 2) {
        Real const real = re[j] + im[j + 1], imaginary = re[j + 1] - im[j];
        to[j] = real;
        to[j + 1] = imaginary;
      }
    }
  }

  Panel<Real> right_panel(std::int64_t row, int count, Panel<Real> const& x, Real* buffer) const {
    if (same) return x;
    if (!weights) return panel(Y, row, count, n, buffer);
    pack(Y, row, count, n, buffer);
    for (int r = 0; r < count; ++r) {
      Real const weight = weights[row + r];
      for (int c = 0; c < n; ++c) buffer[r * std::int64_t(n) + c] *= weight;
    }
    return {buffer, count, n, n, 1};
  }

  void add_panel(int count, Panel<Real> const& x, Panel<Real> const& y, Real* g) const {
    auto const tile = [&](int j, auto tile_width) {
      constexpr int width = tile_width;
      int const needed = same ? std::min(m, j + width) : m;
      for_each_height<tile_height<Real>(width)>(needed, [&](int i, auto height) {
        multiply_tile<height, width>(count, x.data + i, 1, x.row_stride, y.data + j, y.row_stride)
            .for_each_row([&](int a, auto& sums) {
              Real* const to = g + std::int64_t(i + a) * n + j;
              RegisterSet<Real, width> before;
              before.load(to);
              before.add(sums);
              before.store(to);
            });
      });
    };
    // Narrow tiles skip more below the diagonal, but are slower with AVX2.
    if (same && register_bytes == 64 && Y.columns <= 4 * widest_tile<Real>)
      for_each_tile<Real, widest_tile<Real> / 2>(Y.columns, tile);
    else
      for_each_tile<Real>(Y.columns, tile);
  }

  std::int64_t panels_size() const { return std::int64_t(panel_rows) * (m + n); }
  std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(panels_size() + level * entries()) * sizeof(Real);
  }

  void launch(Exec const& exec) const {
    if (nodes() == 0) return;
    Policy policy(exec, static_cast<int>(nodes()), 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::gram", policy, *this);
  }
};

/// G = the root of the partial sums.
template <class Exec, class Scalar>
struct HostGramSum {
  using Real = real_t<Scalar>;
  static constexpr int tile = 32;

  Real const* partials;
  std::int64_t nodes;
  int m, n;
  bool same;  ///< only the diagonal and the entries above it are computed
  BlockRef<Scalar> G;

  struct Sums {
    Scalar values[tile];

    KOKKOS_FUNCTION Sums& operator+=(Sums const& other) {
      for (int b = 0; b < tile; ++b) values[b] += other.values[b];
      return *this;
    }
  };

  KOKKOS_FUNCTION std::int64_t row_entries() const { return n / parts<Scalar>; }
  KOKKOS_FUNCTION std::int64_t entries() const { return G.rows * row_entries(); }

  /// A task handles consecutive entries of a partial result, possibly of several rows.
  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    std::int64_t const first = task * tile, left = entries() - first;
    std::int64_t i = first / row_entries(), j = first % row_entries();
    int const count = left < tile ? static_cast<int>(left) : tile;
    if (same && j + count <= i) return;
    auto const part = [&](std::int64_t c) {
      auto const* const g = reinterpret_cast<Scalar const*>(partials + c * m * n) + first;
      Sums node{};
      for (int b = 0; b < count; ++b) node.values[b] = g[b];
      return node;
    };
    Sums const sums = nodes > 0 ? join_range<AddTerms, Sums>(0, nodes, part) : Sums{};
    for (int b = 0; b < count; ++b) {
      if (j < G.columns && (!same || i <= j)) {
        G(i, j) = sums.values[b];
        if (same) G(j, i) = conjugate(G(i, j));
      }
      if (++j == row_entries()) ++i, j = 0;
    }
  }

  void launch(Exec const& exec) const {
    for_each_task(exec, "Blockspan::gram_sum", ceil_div(entries(), std::int64_t(tile)),
                  nodes * entries(), *this);
  }
};

template <class Exec, class Scalar>
void gram_on_host(Exec const& exec, BlockRef<Scalar const> const& X,
                  BlockRef<Scalar const> const& Y, BlockRef<Scalar> const& G,
                  Workspace<Exec>& workspace, real_t<Scalar> const* weights = nullptr) {
  HostGram<Exec, Scalar> kernel(X, Y, weights, local_chunks(X.rows, workspace));
  kernel.partials = workspace.template device<real_t<Scalar>>(exec, Workspace<Exec>::partials,
                                                              kernel.partials_size());
  kernel.launch(exec);
  auto const sum = [&](std::int64_t first, std::int64_t count, BlockRef<Scalar> const& to) {
    HostGramSum<Exec, Scalar>{
        kernel.partials + first * kernel.entries(), count, kernel.m, kernel.n, kernel.same, to}
        .launch(exec);
  };
  auto const& rows = workspace.rows();
  if (!rows.distributed()) return sum(0, kernel.nodes(), G);
  rows.require_rows(X.rows, "a Gram matrix over ranks");
  std::int64_t const width = G.rows * G.columns, of_node = kernel.chunks.size << kernel.level;
  static_assert(RowSpace::most_units <= HostGram<Exec, Scalar>::most_partials);
  Scalar* const all = room_for_ranks<Scalar>(exec, width, workspace);
  Scalar* to = all + rows.my_first_node() * width;
  for (auto const& [first, last] : rows.nodes()) {
    sum(first / of_node, ceil_div(last, of_node) - first / of_node,
        {to, G.rows, G.columns, 1, G.rows});
    to += width;
  }
  exec.fence("Blockspan: sums for the other ranks");
  rows.template fold<AddTerms>(all, width);
  for (std::int64_t j = 0; j < G.columns; ++j)
    for (std::int64_t i = 0; i < G.rows; ++i) G(i, j) = all[j * G.rows + i];
}

}  // namespace blockspan::multivector
