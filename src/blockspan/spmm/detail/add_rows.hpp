#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/column_operations.hpp>
#include <blockspan/spmm/detail/add_partials.hpp>
#include <blockspan/spmm/detail/dots.hpp>
#include <blockspan/spmm/detail/matrix_ref.hpp>
#include <blockspan/support/arithmetic.hpp>

// The two sums of every column over many rows, in chunks of rows whose number depends on the shape
// only: first each chunk, then the chunks. Traffic: the rows, once.

namespace blockspan::detail {

/// Rows to add: the products of two blocks ...
template <class Scalar>
struct BlockProducts {
  static constexpr std::int64_t least_chunk = 512, most_chunks = 1024;
  static constexpr int columns_of_team = 32;
  BlockRef<Scalar const> X, Y;
  real_t<Scalar> const* weights;  ///< of the rows in y_dot_y; null: ones

  KOKKOS_FORCEINLINE_FUNCTION bool down() const { return Y.row_stride < Y.column_stride; }
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t i, std::int64_t j, Scalar& x_dot_y,
                                       real_t<Scalar>& y_dot_y) const {
    Scalar const y = Y(i, j);
    InnerProduct<Scalar>::add(x_dot_y, X(i, j), y);
    y_dot_y += weights ? weights[i] * squared_magnitude(y) : squared_magnitude(y);
  }
};

/// ... or partial sums (hosts; devices have add_partials.hpp).
template <class Scalar>
struct PartialSums {
  static constexpr std::int64_t least_chunk = 4096, most_chunks = 64;
  DotRows<Scalar> partials;

  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t i, std::int64_t j, Scalar& x_dot_y,
                                       real_t<Scalar>& y_dot_y) const {
    x_dot_y += partials.x_dot_y(i, j);
    if (partials.squares()) y_dot_y += partials.y_dot_y(i, j);
  }
};

/// One launch: row c of the result is the sum of the chunk c of `chunk` rows.
template <class Scalar, class Source>
struct AddRows {
  Source source;
  std::int64_t rows, columns, chunk;
  DotRows<Scalar> result;  ///< chunks x columns

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end_of(std::int64_t first) const {
    return rows - first < chunk ? rows : first + chunk;
  }
};

/// Hosts: one work item a chunk and tile of columns, whose sums stay in registers.
template <class Scalar, class Source>
struct AddRowsOnHost : AddRows<Scalar, Source> {
  static constexpr int tile = 8;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const tiles = ceil_div(this->columns, std::int64_t{tile});
    std::int64_t const c = item / tiles, column = item % tiles * tile;
    std::int64_t const rest = this->columns - column;
    int const count = static_cast<int>(rest < tile ? rest : tile);
    Scalar x_dot_y[tile] = {};
    real_t<Scalar> y_dot_y[tile] = {};
    std::int64_t const first = c * this->chunk, last = this->end_of(first);
    for (std::int64_t i = first; i < last; ++i)
      for (int j = 0; j < count; ++j) this->source.add(i, column + j, x_dot_y[j], y_dot_y[j]);
    for (int j = 0; j < count; ++j) {
      this->result.x_dot_y(c, column + j) = x_dot_y[j];
      if (this->result.squares()) this->result.y_dot_y(c, column + j) = y_dot_y[j];
    }
  }
};

/// Devices: a team a chunk and block of columns; neighbouring threads read neighbouring entries,
/// and the threads of a column are added as a tree.
template <class Exec, class Scalar, class Source>
struct AddRowsOnDevice : AddRows<Scalar, Source> {
  static constexpr int threads = 256;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;
  using Real = real_t<Scalar>;
  static constexpr int scratch_bytes = threads * int(sizeof(Scalar) + sizeof(Real)) + 64;

  int width = 1;   ///< columns of a team
  int height = 1;  ///< threads a column; a power of two, width * height <= threads

  void launch(Exec const& exec, std::string const& label, std::int64_t chunks) {
    width = static_cast<int>(std::min<std::int64_t>(this->columns, Source::columns_of_team));
    while (2 * height * width <= threads) height *= 2;
    std::int64_t const teams = chunks * ceil_div(this->columns, std::int64_t{width});
    Policy policy(exec, static_cast<int>(teams), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
    Kokkos::parallel_for(label, policy, *this);
  }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto const& scratch = team.team_scratch(0);
    auto* const xs = static_cast<Scalar*>(scratch.get_shmem_aligned(threads * sizeof(Scalar), 16));
    auto* const ys = static_cast<Real*>(scratch.get_shmem_aligned(threads * sizeof(Real), 16));
    std::int64_t const blocks = ceil_div(this->columns, std::int64_t{width});
    std::int64_t const chunk_index = team.league_rank() / blocks;
    bool const down = this->source.down();
    int const rank = team.team_rank();
    int const c = down ? rank / height : rank % width, g = down ? rank % height : rank / width;
    std::int64_t const column = team.league_rank() % blocks * width + c;
    bool const busy = c < width && g < height && column < this->columns;
    std::int64_t const first = chunk_index * this->chunk, last = this->end_of(first);
    Scalar x_dot_y(0);
    Real y_dot_y(0);
    if (busy)
      for (std::int64_t i = first + g; i < last; i += height)
        this->source.add(i, column, x_dot_y, y_dot_y);
    int const place = c * height + g;
    if (busy) xs[place] = x_dot_y, ys[place] = y_dot_y;
    for (int half = height / 2; half > 0; half /= 2) {
      team.team_barrier();
      if (busy && g < half) xs[place] += xs[place + half], ys[place] += ys[place + half];
    }
    if (busy && g == 0) {
      this->result.x_dot_y(chunk_index, column) = xs[place];
      if (this->result.squares()) this->result.y_dot_y(chunk_index, column) = ys[place];
    }
  }
};

template <class Exec, class Scalar, class Source>
void launch_add_rows(Exec const& exec, std::string const& label,
                     AddRows<Scalar, Source> const& step, std::int64_t chunks) {
  if (step.columns == 0) return;
  if constexpr (runs_on_host_v<Exec>) {
    using Kernel = AddRowsOnHost<Scalar, Source>;
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    std::int64_t const tiles = ceil_div(step.columns, std::int64_t{Kernel::tile});
    Kokkos::parallel_for(label, Policy(exec, 0, chunks * tiles), Kernel{step});
  } else {
    AddRowsOnDevice<Exec, Scalar, Source>{step}.launch(exec, label, chunks);
  }
}

/// Rows that are left of `rows` after the first launch of add_rows; 0: it has one launch only.
template <class Source>
std::int64_t chunks_of(std::int64_t rows) {
  if (rows <= Source::least_chunk) return 0;
  return ceil_div(rows, std::max(Source::least_chunk, ceil_div(rows, Source::most_chunks)));
}

/// result(0, :) = the sums over all rows of the source; zero if there are none. `spare`: memory for
/// chunks_of(rows) rows of partial sums.
template <class Exec, class Scalar, class Source>
void add_rows(Exec const& exec, std::string const& label, Source const& source, std::int64_t rows,
              std::int64_t columns, DotRows<Scalar> const& spare, DotRows<Scalar> const& result) {
  std::int64_t const chunks = chunks_of<Source>(rows);
  if (chunks == 0)
    return launch_add_rows<Exec, Scalar, Source>(exec, label, {source, rows, columns, rows, result},
                                                 1);
  std::int64_t const chunk = std::max(Source::least_chunk, ceil_div(rows, Source::most_chunks));
  launch_add_rows<Exec, Scalar, Source>(exec, label, {source, rows, columns, chunk, spare}, chunks);
  if constexpr (runs_on_host_v<Exec>)
    launch_add_rows<Exec, Scalar, PartialSums<Scalar>>(
        exec, label, {{spare}, chunks, columns, chunks, result}, 1);
  else
    AddPartials<Exec, Scalar>{spare, chunks, result}.launch(exec, label);
}

}  // namespace blockspan::detail
