#pragma once

#include <blockspan/sparse/generators/generator_grid.hpp>
#include <blockspan/sparse/generators/generator_hash.hpp>

// Generator rules of matrices from applications: high-order stencils, quantum spins, queueing
// networks, reservoirs with wells, circuits, growing graphs, saddle points, patches of several
// kinds.

namespace blockspan::sparse {

/// A grid point and its neighbours up to `reach` steps along each axis: minus the Laplacian by
/// central differences of order 2 reach.
struct StarRule {
  static constexpr bool has_values = true;
  static constexpr int most_reach = 8;
  Grid grid;
  int reach;
  double weight[most_reach + 1];  ///< of the diagonal, then of each distance

  KOKKOS_FUNCTION int below(int p) const { return Kokkos::min(p, reach); }
  KOKKOS_FUNCTION int above(int p, int n) const { return Kokkos::min(n - 1 - p, reach); }
  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    GridPoint const p = grid.point(i);
    return 1 + below(p.x) + above(p.x, grid.nx) + below(p.y) + above(p.y, grid.ny) + below(p.z) +
           above(p.z, grid.nz);
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int, int* columns, double* values) const {
    GridPoint const p = grid.point(i);
    std::int64_t const stride[3] = {1, grid.nx, std::int64_t(grid.nx) * grid.ny};
    int const before[3] = {below(p.x), below(p.y), below(p.z)};
    int const after[3] = {above(p.x, grid.nx), above(p.y, grid.ny), above(p.z, grid.nz)};
    int k = 0;
    auto const add = [&](std::int64_t column, int distance) {
      columns[k] = static_cast<int>(column);
      values[k++] = weight[distance];
    };
    for (int axis = 2; axis >= 0; --axis)
      for (int d = before[axis]; d > 0; --d) add(i - d * stride[axis], d);
    add(i, 0);
    for (int axis = 0; axis < 3; ++axis)
      for (int d = 1; d <= after[axis]; ++d) add(i + d * stride[axis], d);
  }
};

/// Heisenberg antiferromagnet on a ring of at least three spins 1/2, H = sum of S_s . S_(s+1): bit
/// s of the row is spin s. The entry that swaps two different neighbours is 1/2; the diagonal has
/// 1/4 for each pair of equal neighbours, -1/4 for each pair of different ones.
struct SpinRule {
  static constexpr bool has_values = true;
  int sites;

  /// Bit s of the result: spins s and s + 1 differ.
  KOKKOS_FUNCTION std::uint32_t different(std::uint32_t state) const {
    return state ^ ((state >> 1) | ((state & 1u) << (sites - 1)));
  }
  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    return 1 + Kokkos::Experimental::popcount_builtin(different(std::uint32_t(i)));
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int length, int* columns, double* values) const {
    auto const state = std::uint32_t(i);
    std::uint32_t const swapped = different(state);
    int const last = sites - 1;
    auto const bit = [](std::uint32_t bits, int s) { return (bits >> s & 1u) != 0; };
    // Swapping spins s and s + 1 changes the index by 2^s; swapping the last and the first, which
    // closes the ring, changes it most.
    std::int64_t const around = (std::int64_t(1) << last) - 1;
    int k = 0;
    auto const add = [&](std::int64_t column, double value) {
      columns[k] = static_cast<int>(column);
      values[k++] = value;
    };
    if (bit(swapped, last) && bit(state, last)) add(i - around, 0.5);
    for (int s = last - 1; s >= 0; --s)
      if (bit(swapped, s) && !bit(state, s)) add(i - (std::int64_t(1) << s), 0.5);
    add(i, 0.25 * double(sites - 2 * (length - 1)));
    for (int s = 0; s < last; ++s)
      if (bit(swapped, s) && bit(state, s)) add(i + (std::int64_t(1) << s), 0.5);
    if (bit(swapped, last) && !bit(state, last)) add(i + around, 0.5);
  }
};

/// Markov chain of four queues in tandem, the first the fastest digit of the state: customers
/// arrive at rate 1, are served at rate 5/4 and are blocked while the next queue is full.
struct QueueRule {
  static constexpr bool has_values = true;
  std::int64_t capacity;  ///< states of a queue: 0 to capacity - 1 customers

  /// The possible events, in ascending order of the resulting state: the departure, the arrival,
  /// the services between two queues.
  template <class Event>
  KOKKOS_FUNCTION void visit(std::int64_t i, Event const& event) const {
    std::int64_t const c = capacity, full = c - 1;
    std::int64_t const n[4] = {i % c, i / c % c, i / (c * c) % c, i / (c * c * c)};
    if (n[3] > 0) event(-c * c * c, 1.25);
    if (n[0] < full) event(std::int64_t(1), 1.0);
    std::int64_t stride = 1;
    for (int q = 0; q < 3; ++q, stride *= c)
      if (n[q] > 0 && n[q + 1] < full) event(stride * full, 1.25);
  }
  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    std::int64_t count = 1;
    visit(i, [&](std::int64_t, double) { ++count; });
    return count;
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int, int* columns, double* values) const {
    double sum = 0;
    visit(i, [&](std::int64_t, double rate) { sum += rate; });
    int k = 0;
    auto const add = [&](std::int64_t step, double value) {
      columns[k] = static_cast<int>(i + step);
      values[k++] = value;
    };
    bool const departs = i >= capacity * capacity * capacity;
    if (!departs) add(0, -sum);
    visit(i, [&](std::int64_t step, double rate) {
      add(step, rate);
      if (step < 0) add(0, -sum);
    });
  }
};

/// A row of few columns, in ascending order, in the registers of one thread.
template <int most>
struct ShortRow {
  int length = 0;
  int columns[most];

  KOKKOS_FUNCTION int column(int k) const { return columns[k]; }
  /// Inserts in ascending order; a column that is already present is dropped.
  KOKKOS_FUNCTION void insert(std::int64_t column) {
    auto const name = static_cast<int>(column);
    int k = length;
    while (k > 0 && columns[k - 1] > name) --k;
    if (k > 0 && columns[k - 1] == name) return;
    for (int l = length++; l > k; --l) columns[l] = columns[l - 1];
    columns[k] = name;
  }
};

/// `count` long rows, one in each of `count` equal parts of the rows, with `length` columns, one in
/// each of `length` equal parts of the columns.
struct LongRows {
  std::int64_t rows, count, length;
  std::uint64_t seed;

  KOKKOS_FUNCTION bool contains(std::int64_t i) const {
    if (count == 0) return false;
    std::int64_t const part = ((i + 1) * count - 1) / rows;
    std::int64_t const first = rows * part / count, last = rows * (part + 1) / count;
    return i == first + reduce_range(hash(seed, HashStream::long_row, std::uint64_t(part), 0),
                                     last - first);
  }
  KOKKOS_FUNCTION std::int64_t column(std::int64_t i, std::int64_t j) const {
    std::int64_t const first = rows * j / length, last = rows * (j + 1) / length;
    return first + reduce_range(hash(seed, HashStream::column, std::uint64_t(i), std::uint64_t(j)),
                                last - first);
  }
};

/// Rows whose columns Columns::visit(i, add) passes to add, in ascending order.
template <class Columns>
struct VisitedRowsRule {
  static constexpr bool has_values = false;
  Columns columns;

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    std::int64_t count = 0;
    columns.visit(i, [&](int) { ++count; });
    return count;
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int, int* out) const {
    int k = 0;
    columns.visit(i, [&](int column) { out[k++] = column; });
  }
};

/// The short rows of `base`; rows in `chosen` also have the columns of long rows, without
/// duplicates.
template <class Base>
struct WithLongRows {
  Base base;
  LongRows chosen;

  template <class Add>
  KOKKOS_FUNCTION void visit(std::int64_t i, Add const& add) const {
    auto const row = base.row(i);
    int k = 0;
    std::int64_t const length = chosen.contains(i) ? chosen.length : 0;
    for (std::int64_t j = 0; j < length; ++j) {
      std::int64_t const column = chosen.column(i, j);
      while (k < row.length && row.column(k) < column) add(row.column(k++));
      if (k == row.length || row.column(k) != column) add(static_cast<int>(column));
    }
    while (k < row.length) add(row.column(k++));
  }
};

/// A 7-point grid with several unknowns a point, all coupled.
struct ReservoirRows {
  Grid grid;
  int unknowns;

  struct Row {
    int length, unknowns;
    int points[7];
    KOKKOS_FUNCTION int column(int k) const {
      return points[k / unknowns] * unknowns + k % unknowns;
    }
  };
  KOKKOS_FUNCTION Row row(std::int64_t i) const {
    std::int64_t const index = i / unknowns;
    GridPoint const p = grid.point(index);
    Row row{0, unknowns, {}};
    int count = 0;
    for (int face = 0; face < 6; ++face) {
      if (face == 3) row.points[count++] = static_cast<int>(index);
      GridPoint const q = grid_neighbour(p, face);
      if (grid.contains(q)) row.points[count++] = static_cast<int>(grid.index(q));
    }
    row.length = count * unknowns;
    return row;
  }
};

/// The diagonal and up to 2 mean columns at distances d with P(distance >= d) = 1 / d, to either
/// side; columns outside the matrix and duplicates are dropped.
struct CircuitRows {
  static constexpr int most_mean = 16;
  std::int64_t n;
  int mean;
  std::uint64_t seed;

  KOKKOS_FUNCTION ShortRow<2 * most_mean + 1> row(std::int64_t i) const {
    ShortRow<2 * most_mean + 1> row;
    row.insert(i);
    auto const count =
        reduce_range(hash(seed, HashStream::length, std::uint64_t(i), 0), 2 * mean + 1);
    for (std::int64_t j = 0; j < count; ++j) {
      std::uint64_t const bits = hash(seed, HashStream::edge, std::uint64_t(i), std::uint64_t(j));
      auto const distance =
          static_cast<std::int64_t>((std::uint64_t(1) << 32) / ((bits >> 32) + 1));
      std::int64_t const column = (bits & 1) != 0 ? i + distance : i - distance;
      if (column >= 0 && column < n) row.insert(column);
    }
    return row;
  }
};

/// The rows that base.row(i) returns.
template <class Base>
struct ShortRowsRule {
  static constexpr bool has_values = false;
  Base base;
  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const { return base.row(i).length; }
  KOKKOS_FUNCTION void fill(std::int64_t i, int length, int* out) const {
    auto const row = base.row(i);
    for (int k = 0; k < length; ++k) out[k] = row.column(k);
  }
};

/// Preferential attachment, lower triangle: the vertex itself and the older ends of its `edges`
/// edges. Edge e occupies the positions 2 e (its vertex) and 2 e + 1 (a vertex drawn from all
/// earlier positions) of a list. Each position is resolved independently: a draw that hits another
/// drawn position repeats the draw of that one (Sanders, Schulz 2016,
/// doi:10.1016/j.ipl.2016.02.004).
struct AttachmentRows {
  static constexpr int most_edges = 32;
  int edges;
  std::uint64_t seed;

  KOKKOS_FUNCTION ShortRow<most_edges + 1> row(std::int64_t i) const {
    ShortRow<most_edges + 1> row;
    row.insert(i);
    for (int j = 0; j < edges; ++j) {
      std::int64_t place = 2 * (i * edges + j) + 1;
      while (place % 2 != 0)
        place = reduce_range(hash(seed, HashStream::edge, std::uint64_t(place), 0), place);
      row.insert(place / 2 / edges);
    }
    return row;
  }
};

/// Without its last columns: n tridiagonal rows, then rows with six of the first n columns.
struct SaddleRows {
  static constexpr int constraint = 6;
  std::int64_t n;
  std::uint64_t seed;

  KOKKOS_FUNCTION ShortRow<constraint> row(std::int64_t i) const {
    ShortRow<constraint> row;
    if (i < n) {
      for (std::int64_t j = i > 0 ? i - 1 : i; j <= i + 1 && j < n; ++j) row.insert(j);
      return row;
    }
    LongRows const columns{n, 0, constraint, seed};
    for (int j = 0; j < constraint; ++j) row.insert(columns.column(i, j));
    return row;
  }
};

/// Equal parts of the rows, each of its own kind and mean length: diagonals, a band, random
/// columns, blocks of rows with the same random columns, random columns in one row of eight, or
/// lengths that are doubled with probability 1/2, repeatedly (a power law).
struct PatchRows {
  static constexpr int kinds = 6, most_length = 48, most_block = 6;
  static constexpr std::int64_t longest = 8192;
  std::int64_t n, parts;
  std::uint64_t seed;

  KOKKOS_FUNCTION int draw(std::int64_t part, int what, int count) const {
    return static_cast<int>(reduce_range(
        hash(seed, HashStream::patch, std::uint64_t(part), std::uint64_t(what)), count));
  }
  template <class Add>
  KOKKOS_FUNCTION void visit(std::int64_t i, Add const& add) const {
    std::int64_t const part = ((i + 1) * parts - 1) / n;
    int const kind = draw(part, 0, kinds), length = 2 + draw(part, 1, most_length - 1);
    if (kind <= 1) return visit_diagonals(i, part, length, kind == 1, add);
    std::uint64_t const own = hash(seed, HashStream::length, std::uint64_t(i), 0);
    std::int64_t count = length, row = i;
    if (kind == 3) row -= i % (2 + draw(part, 2, most_block - 1));
    if (kind == 4 && own % 8 != 0) return;
    if (kind == 5)
      for (std::uint64_t bits = own; (bits & 1) != 0 && count < longest; bits >>= 1) count *= 2;
    if (count > n) count = n;
    LongRows const columns{n, 0, count, seed};
    for (std::int64_t j = 0; j < count; ++j) add(static_cast<int>(columns.column(row, j)));
  }
  /// Adjacent columns (a band), or one in each of `length` equal parts of a range about the row.
  template <class Add>
  KOKKOS_FUNCTION void visit_diagonals(std::int64_t i, std::int64_t part, int length, bool band,
                                       Add const& add) const {
    std::int64_t const each = band ? 1 : 2 + draw(part, 2, 500);
    for (int k = 0; k < length; ++k) {
      std::int64_t const within =
          reduce_range(hash(seed, HashStream::column, std::uint64_t(part), std::uint64_t(k)), each);
      std::int64_t const column = i + (k - length / 2) * each + within;
      if (column >= 0 && column < n) add(static_cast<int>(column));
    }
  }
};

}  // namespace blockspan::sparse
