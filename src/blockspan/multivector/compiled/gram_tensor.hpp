#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::multivector {

namespace tensor {

using namespace blocks::tensor;

template <int M_, int N_>
struct Shape {
  static constexpr int M = M_, N = N_;
};

}  // namespace tensor

/// Partial Gram matrices of one or two pairs of blocks with the same left block, X^T Y and X^T Z,
/// or of one pair with row weights, X^T diag(weights) Y. The result is divided into blocks of M x N
/// tiles. A warp sums one block in registers, over its share of the rows that the team has staged
/// in scratch, while the next rows are being copied. Warps that share a block are added in a fixed
/// order at the end. Traffic: X, Y and Z once, where a team computes all blocks; a block of vectors
/// on both sides is staged once.
template <class Exec, int M, int N>
struct TensorGram {
  static constexpr int teams_per_core = M * N <= 4 ? 3 : 2;  ///< limited by registers
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<tensor::threads, teams_per_core>>;
  static constexpr int block_rows = M * tensor::tile_rows;
  static constexpr int block_columns = N * tensor::tile_columns;
  static constexpr int step = tensor::tile_inner;  ///< rows of X, Y and Z per instruction
  static constexpr int stages = 3;
  static constexpr int tile_entries = tensor::tile_rows * tensor::tile_columns;

  tensor::Rows sources[3];  ///< X and, where different, Y and Z
  int right[2];             ///< indices of the right blocks in `sources`
  int source_count, results;
  std::int64_t rows;
  int chunk, chunks, down, across;  ///< down, across: blocks of a result
  int at_once, groups;  ///< blocks that a team computes together, and warps that share each
  int stage_rows, stage_size;
  int widest;                  ///< columns of a source
  int offsets[3], strides[3];  ///< of the sources in a stage
  std::int64_t stage_step[3];  ///< distance between stages in the sources
  double* partials;            ///< chunks x results x height x width
  double const* weights;       ///< or null; staged behind the sources

  TensorGram(tensor::Rows const& x, tensor::Rows const (&y)[2], int results_, RowChunks const& cut,
             double const* weights_)
      : sources{x, x, x},
        right{0, 0},
        source_count(1),
        results(results_),
        rows(cut.rows),
        down(ceil_div(x.columns, block_rows)),
        across(ceil_div(y[0].columns, block_columns)),
        weights(weights_) {
    for (int r = 0; r < results; ++r) right[r] = source(y[r]);
    at_once = std::min(blocks(), tensor::warps);
    groups = tensor::warps / at_once;
    widest = stage_size = 0;
    for (int s = 0; s < source_count; ++s) {
      offsets[s] = stage_size;
      strides[s] = (s == 0 ? std::max(height(), width()) : width()) + pad;
      stage_size += strides[s];
      widest = std::max(widest, sources[s].columns);
    }
    if (weights) ++stage_size;
    stage_rows = std::clamp(most_doubles / stages / stage_size / (groups * step), 1, 16 / groups) *
                 groups * step;
    for (int s = 0; s < source_count; ++s) {
      offsets[s] *= stage_rows;
      stage_step[s] = stage_rows * sources[s].stride;
    }
    stage_size *= stage_rows;
    chunk = static_cast<int>(cut.size);
    chunks = static_cast<int>(cut.count());
  }

  /// The part of a stage that a thread copies: every rows-th row from `row` on, and of every
  /// `columns` columns the two from `column` on.
  struct Place {
    int rank, row, rows, column, columns;
    double const* from[3];  ///< this thread's first row of the next stage
    std::int64_t step[3];   ///< distance to its next row
    double const* weights;  ///< of the next stage

    KOKKOS_FORCEINLINE_FUNCTION Place(TensorGram const& gram, std::int64_t first, int warp,
                                      int lane) {
      int const w = gram.widest;
      int const lanes_across = w > 32 ? 32 : w > 16 ? 16 : w > 8 ? 8 : w > 4 ? 4 : 2;
      int const lanes_down = tensor::lanes / lanes_across;
      rank = warp * tensor::lanes + lane;
      row = warp * lanes_down + lane / lanes_across;
      rows = tensor::warps * lanes_down;
      column = lane % lanes_across * 2;
      columns = lanes_across * 2;
      for (int s = 0; s < 3; ++s) {
        from[s] = gram.sources[s].data + (first + row) * gram.sources[s].stride;
        step[s] = rows * gram.sources[s].stride;
      }
      weights = gram.weights ? gram.weights + first : nullptr;
    }
  };

  /// Whether scratch holds the stages; false for very wide blocks.
  bool fits() const { return scratch_bytes() <= tensor::most_scratch; }

  static constexpr int most_doubles = static_cast<int>(tensor::most_scratch / sizeof(double));
  static constexpr int pad = 4;  ///< avoids bank conflicts of the four rows that a warp reads

  int source(tensor::Rows const& y) {
    for (int s = 0; s < source_count; ++s)
      if (sources[s].data == y.data && sources[s].columns == y.columns &&
          sources[s].stride == y.stride)
        return s;
    sources[source_count] = y;
    return source_count++;
  }

  KOKKOS_FUNCTION int blocks() const { return results * down * across; }
  KOKKOS_FUNCTION int height() const { return down * block_rows; }
  KOKKOS_FUNCTION int width() const { return across * block_columns; }
  std::int64_t result_size() const { return std::int64_t(height()) * width(); }
  std::int64_t partials_size() const { return chunks * results * result_size(); }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    int const warp = team.team_rank() / tensor::lanes, lane = team.team_rank() % tensor::lanes;
    int const c = team.league_rank() % chunks;
    int const which = team.league_rank() / chunks * at_once + warp % at_once;
    int const group = warp / at_once;
    bool const busy = group < groups && which < blocks();
    auto* const scratch =
        static_cast<double*>(team.team_scratch(0).get_shmem_aligned(scratch_bytes(), 16));
    for (int e = team.team_rank(); e < stages * stage_size; e += tensor::threads) scratch[e] = 0;
    team.team_barrier();

    std::int64_t const first = std::int64_t(c) * chunk;
    int const count = rows - first < chunk ? static_cast<int>(rows - first) : chunk;
    Place place(*this, first, warp, lane);
    std::uint32_t const buffers = tensor::scratch_address(scratch);
    auto const buffer_bytes = static_cast<std::uint32_t>(stage_size * sizeof(double));
    for (int s = 0; s < stages - 1; ++s)
      stage(buffers + s * buffer_bytes, count - s * stage_rows, place);

    int const i = which / across % down * block_rows, j = which % across * block_columns;
    int const r = which / (down * across) == 0 ? right[0] : right[1];
    double const* const x = scratch + (lane % step) * strides[0] + i + lane / step;
    double const* const y = scratch + offsets[r] + (lane % step) * strides[r] + j + lane / step;
    double sums[M][N][4] = {};
    int now = 0, next = stages - 1;
    for (int left = count; left > 0; left -= stage_rows) {
      tensor::wait_for_copies<stages - 2>();
      team.team_barrier();
      stage(buffers + next * buffer_bytes, left - (stages - 1) * stage_rows, place);
      if (busy)
        add_rows(x + now * stage_size, y + now * stage_size, strides[r],
                 scratch + (now + 1) * stage_size - stage_rows + lane % step, group, sums);
      now = now + 1 == stages ? 0 : now + 1;
      next = next + 1 == stages ? 0 : next + 1;
    }
    tensor::wait_for_copies<0>();
    add_groups(team, scratch, warp % at_once, group, lane, sums);
    if (busy && group == 0) store(which, c, lane, sums);
  }

  /// Starts the copies of the next stage, of whose rows `left` remain in the chunk; zeros behind
  /// them. Every call commits one group of copies, empty or not.
  KOKKOS_FORCEINLINE_FUNCTION void stage(std::uint32_t to, int left, Place& place) const {
    if (left > 0) {
      for (int s = 0; s < 3; ++s)
        if (s < source_count) {
          for (int column = place.column; column < sources[s].columns; column += place.columns)
            copy_columns(s, to, column, left, place);
          place.from[s] += stage_step[s];
        }
      if (weights) {
        auto const size = static_cast<std::uint32_t>(sizeof(double));
        if (int const q = place.rank; q < stage_rows)
          tensor::copy_scalar(to + (stage_size - stage_rows + q) * size, place.weights + q,
                              q < left ? 8 : 0);
        place.weights += stage_rows;
      }
    }
    tensor::commit_copies();
  }

  KOKKOS_FORCEINLINE_FUNCTION void copy_columns(int s, std::uint32_t to, int column, int left,
                                                Place const& place) const {
    auto const size = static_cast<std::uint32_t>(sizeof(double));
    int const bytes = column + 1 < sources[s].columns ? 16 : 8;
    double const* from = place.from[s] + column;
    to += (offsets[s] + place.row * strides[s] + column) * size;
    for (int q = place.row; q < stage_rows; q += place.rows) {
      tensor::copy_pair(to, from, q < left ? bytes : 0);
      from += place.step[s];
      to += place.rows * strides[s] * size;
    }
  }

  /// Adds every groups-th step of a stage.
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(double const* x, double const* y, int y_stride,
                                            double const* weight, int group,
                                            double (&sums)[M][N][4]) const {
    for (int q = group * step; q < stage_rows; q += groups * step) {
      double a[M][2], b[N];
      for (int s = 0; s < M; ++s)
        for (int half = 0; half < 2; ++half)
          a[s][half] = x[q * strides[0] + s * tensor::tile_rows + half * tensor::tile_rows / 2];
      for (int t = 0; t < N; ++t) b[t] = y[q * y_stride + t * tensor::tile_columns];
      if (weights)
        for (int t = 0; t < N; ++t) b[t] *= weight[q];
      for (int s = 0; s < M; ++s)
        for (int t = 0; t < N; ++t) tensor::multiply_add(a[s], b[t], sums[s][t]);
    }
  }

  /// Adds the sums of all groups into group 0 of every block, one row of tiles at a time to keep
  /// the scratch small.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void add_groups(Team const& team, double* scratch, int slot,
                                              int group, int lane, double (&sums)[M][N][4]) const {
    if (groups == 1) return;
    team.team_barrier();
    double* const own = scratch + slot * N * tile_entries + lane;
    for (int giver = 1; giver < groups; ++giver)
      for (int s = 0; s < M; ++s) {
        if (group == giver)
          for (int t = 0; t < N; ++t)
            for (int e = 0; e < 4; ++e) own[t * tile_entries + e * tensor::lanes] = sums[s][t][e];
        team.team_barrier();
        if (group == 0)
          for (int t = 0; t < N; ++t)
            for (int e = 0; e < 4; ++e) sums[s][t][e] += own[t * tile_entries + e * tensor::lanes];
        team.team_barrier();
      }
  }

  KOKKOS_FORCEINLINE_FUNCTION void store(int which, int c, int lane,
                                         double const (&sums)[M][N][4]) const {
    int const i = which / across % down * block_rows, j = which % across * block_columns;
    int const result = which / (down * across), n = width();
    double* const g = partials + ((std::int64_t(c) * results + result) * height() + i) * n + j;
    for (int s = 0; s < M; ++s)
      for (int t = 0; t < N; ++t)
        for (int e = 0; e < 4; ++e) {
          int const row = s * tensor::tile_rows + e / 2 * tensor::tile_rows / 2 + lane / step;
          int const column = t * tensor::tile_columns + 2 * (lane % step) + e % 2;
          g[std::int64_t(row) * n + column] = sums[s][t][e];
        }
  }

  KOKKOS_FUNCTION std::size_t scratch_bytes() const {
    int const staged = stages * stage_size;
    int const added = groups > 1 ? at_once * N * tile_entries : 0;
    return static_cast<std::size_t>(staged > added ? staged : added) * sizeof(double);
  }

  void launch(Exec const& exec) const {
    if (chunks == 0) return;
    Policy policy(exec, chunks * ceil_div(blocks(), at_once), tensor::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::gram", policy, *this);
  }
};

/// Calls `run` with the block shape (M and N in tiles) of least estimated time for m x n columns of
/// `results` results: the larger of multiplications and loads from scratch, and the passes over the
/// rows when a team does not compute all blocks.
template <class Run>
void with_gram_tiles(int m, int n, int results, Run const& run) {
  auto const cost = [&](auto shape) {
    constexpr int M = shape.M, N = shape.N;
    int const blocks =
        results * ceil_div(m, M * tensor::tile_rows) * ceil_div(n, N * tensor::tile_columns);
    return blocks * std::max(2 * M * N, 2 * M + N) + ceil_div(blocks, tensor::warps) * (m + n) / 4;
  };
  auto const choose = [&](auto... shapes) {
    int const least = std::min({cost(shapes)...});
    bool found = false;
    ((!found && cost(shapes) == least ? (found = true, run(shapes)) : void()), ...);
  };
  choose(tensor::Shape<3, 3>(), tensor::Shape<2, 4>(), tensor::Shape<2, 3>(), tensor::Shape<1, 2>(),
         tensor::Shape<1, 1>());
}

}  // namespace blockspan::multivector
