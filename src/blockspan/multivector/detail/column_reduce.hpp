#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/column_operations.hpp>
#include <blockspan/multivector/detail/small_ref.hpp>
#include <blockspan/support/arithmetic.hpp>

// A reduction down every column in two steps: chunks of rows, whose number depends on the shape
// only, then the chunks in a fixed order. Traffic: the block, once.

namespace blockspan::detail {

/// Partial results of one chunk, on the host: a tile of columns in registers.
template <class Exec, class Scalar, class Operation>
struct HostColumnReduce {
  using Value = typename Operation::Value;
  static constexpr int tile = 32, interleave = 8;

  BlockRef<Scalar const> X, Y;
  std::int64_t chunk;
  Value* partials;  ///< chunks x columns

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const first = index * chunk;
    std::int64_t const last = first + chunk < X.rows ? first + chunk : X.rows;
    for (std::int64_t j = 0; j < X.columns; j += tile) {
      int const count = static_cast<int>(X.columns - j < tile ? X.columns - j : tile);
      Value sums[tile] = {};
      if (X.row_stride <= X.column_stride)
        down_columns(first, last, j, count, sums);
      else
        along_rows(first, last, j, count, sums);
      for (int b = 0; b < count; ++b) partials[index * X.columns + j + b] = sums[b];
    }
  }

  KOKKOS_FUNCTION void along_rows(std::int64_t first, std::int64_t last, std::int64_t j, int count,
                                  Value (&sums)[tile]) const {
    for (std::int64_t i = first; i < last; ++i) {
      Scalar const *const x = &X(i, j), *const y = &Y(i, j);
      if (X.column_stride == 1 && Y.column_stride == 1)
        for (int b = 0; b < count; ++b) Operation::add(sums[b], x[b], y[b]);
      else
        for (int b = 0; b < count; ++b)
          Operation::add(sums[b], x[b * X.column_stride], y[b * Y.column_stride]);
    }
  }

  /// Several sums a column, so that additions need not wait for each other.
  KOKKOS_FUNCTION void down_columns(std::int64_t first, std::int64_t last, std::int64_t j,
                                    int count, Value (&sums)[tile]) const {
    for (int b = 0; b < count; ++b) {
      Value strands[interleave] = {};
      std::int64_t i = first;
      for (; i + interleave <= last; i += interleave)
        for (int s = 0; s < interleave; ++s)
          Operation::add(strands[s], X(i + s, j + b), Y(i + s, j + b));
      for (; i < last; ++i) Operation::add(strands[0], X(i, j + b), Y(i, j + b));
      for (int s = 0; s < interleave; ++s) Operation::join(sums[b], strands[s]);
    }
  }
};

/// The same on a device: neighbouring threads read neighbouring entries, be it along rows or down
/// columns; then the threads of a column are added as a tree.
template <class Exec, class Scalar, class Operation>
struct DeviceColumnReduce {
  using Value = typename Operation::Value;
  static constexpr int threads = 256;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;

  BlockRef<Scalar const> X, Y;
  std::int64_t chunk;
  Value* partials;
  int width;   ///< columns a team handles at once
  int height;  ///< threads a column; a power of two

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    std::int64_t const first = team.league_rank() * chunk;
    std::int64_t const last = first + chunk < X.rows ? first + chunk : X.rows;
    auto* const sums =
        static_cast<Value*>(team.team_scratch(0).get_shmem_aligned(threads * sizeof(Value), 16));
    bool const down = X.row_stride < X.column_stride;
    int const rank = team.team_rank();
    int const c = down ? rank / height : rank % width, g = down ? rank % height : rank / width;
    bool const busy = c < width && g < height;
    for (std::int64_t j = 0; j < X.columns; j += width) {
      Value sum{};
      if (busy && j + c < X.columns)
        for (std::int64_t i = first + g; i < last; i += height)
          Operation::add(sum, X(i, j + c), Y(i, j + c));
      if (busy) sums[c * height + g] = sum;
      for (int half = height / 2; half > 0; half /= 2) {
        team.team_barrier();
        if (busy && g < half) Operation::join(sums[c * height + g], sums[c * height + g + half]);
      }
      if (busy && g == 0 && j + c < X.columns)
        partials[team.league_rank() * X.columns + j + c] = sums[c * height];
      team.team_barrier();
    }
  }
};

/// The chunks of one column, in their order.
template <class Exec, class Operation>
struct ColumnFinish {
  typename Operation::Value const* partials;
  std::int64_t chunks, columns;
  BlockRef<typename Operation::Result> result;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    typename Operation::Value sum{};
    for (std::int64_t c = 0; c < chunks; ++c) Operation::join(sum, partials[c * columns + j]);
    result(j, 0) = Operation::finish(sum);
  }
};

template <class Exec, class Scalar, class Operation>
void launch_column_reduce(Exec const& exec, BlockRef<Scalar const> const& X,
                          BlockRef<Scalar const> const& Y, std::int64_t chunk,
                          typename Operation::Value* partials) {
  std::int64_t const chunks = ceil_div(X.rows, chunk);
  if (chunks == 0) return;
  if constexpr (runs_on_host_v<Exec>) {
    Kokkos::parallel_for(
        Operation::label,
        Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>(exec, 0, chunks),
        HostColumnReduce<Exec, Scalar, Operation>{X, Y, chunk, partials});
  } else {
    using Kernel = DeviceColumnReduce<Exec, Scalar, Operation>;
    int const width = static_cast<int>(std::min<std::int64_t>(X.columns, 32));
    int height = 1;
    while (2 * height * width <= Kernel::threads) height *= 2;
    typename Kernel::Policy policy(exec, static_cast<int>(chunks), Kernel::threads);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(Kernel::threads * sizeof(typename Operation::Value) + 64));
    Kokkos::parallel_for(Operation::label, policy, Kernel{X, Y, chunk, partials, width, height});
  }
}

/// result(j) = finish of the sum over i of operation(X(i, j), Y(i, j)).
template <class Operation, class Exec, class Scalar>
void reduce_columns(Exec const& exec, BlockRef<Scalar const> const& X,
                    BlockRef<Scalar const> const& Y,
                    SmallRef<typename Operation::Result> const& target,
                    Workspace<Exec>& workspace) {
  std::int64_t const most = 256, least = runs_on_host_v<Exec> ? 2048 : 512;
  std::int64_t const chunk = std::max(ceil_div(X.rows, most), least);
  std::int64_t const chunks = ceil_div(X.rows, chunk);
  auto const result = result_on_device(exec, target, workspace);
  if (X.columns > 0) {
    auto* const partials = workspace.template device<typename Operation::Value>(
        exec, Workspace<Exec>::partials, chunks * X.columns);
    launch_column_reduce<Exec, Scalar, Operation>(exec, X, Y, chunk, partials);
    Kokkos::parallel_for("Blockspan::column_finish", Kokkos::RangePolicy<Exec>(exec, 0, X.columns),
                         ColumnFinish<Exec, Operation>{partials, chunks, X.columns, result});
  }
  deliver(exec, result, target, workspace);
}

}  // namespace blockspan::detail
