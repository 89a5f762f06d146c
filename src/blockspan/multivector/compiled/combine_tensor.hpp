#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/real_view.hpp>
#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/terms/row_terms.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::multivector {

/// Fills the table of a TensorCombine.
template <class Combine>
struct TensorTable {
  Combine combine;
  double* table;

  KOKKOS_FUNCTION void operator()(int e) const { table[e] = combine.coefficient(e); }
};

template <class Scalar>
using TensorTerm = RowTerm<Scalar, tensor::Rows>;

/// Y = alpha sum of the terms + beta Y for up to 8 V real columns of Y. A team keeps the
/// coefficients in scratch, in the order in which lanes read them; if scratch is too small, it
/// reads them through the cache from a table in memory, filled by an earlier kernel. A warp
/// computes 16 rows of Y in registers, from rows of X that are read directly from memory. It reads
/// its rows of X before it writes them: Y may alias X. Traffic: X and Y once.
template <class Exec, class Scalar, int V, int terms>
struct TensorCombine {
  static constexpr int depth = V <= 1 ? 2 : V <= 4 ? 3 : V <= 6 ? 2 : 4;  ///< passes loaded at once
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<tensor::threads, V <= 6 ? 2 : 1>>;
  static constexpr int team_rows = tensor::warps * tensor::tile_rows;
  static constexpr int inner = 8;  ///< inner indices of a pass: two tiles, adjacent in memory
  static constexpr int most_teams = 1056;
  static constexpr int p = parts<Scalar>;

  Scalar alpha;
  TensorTerm<Scalar> term[2];
  Scalar beta;
  double* y;
  std::int64_t y_stride, rows;
  int columns, teams;       ///< columns: real, of Y
  double* table = nullptr;  ///< steps x V x lanes coefficients, if scratch is too small

  TensorCombine(Scalar alpha_, TensorTerm<Scalar> const& first, TensorTerm<Scalar> const& second,
                Scalar beta_, BlockRef<Scalar> const& Y)
      : alpha(alpha_),
        term{first, second},
        beta(beta_),
        y(reinterpret_cast<double*>(Y.data)),
        y_stride(Y.row_stride * p),
        rows(Y.rows),
        columns(static_cast<int>(Y.columns) * p),
        teams(static_cast<int>(
            std::min<std::int64_t>(most_teams, ceil_div(rows, std::int64_t(team_rows))))) {}

  KOKKOS_FUNCTION int passes(int t) const { return (term[t].X.columns + inner - 1) / inner; }
  KOKKOS_FUNCTION int passes() const { return passes(0) + (terms == 2 ? passes(1) : 0); }
  /// The term that a pass, counted over both terms, belongs to; `pass` becomes the pass within that
  /// term.
  KOKKOS_FORCEINLINE_FUNCTION TensorTerm<Scalar> const& term_of(int& pass) const {
    if (terms == 1 || pass < passes(0)) return term[0];
    pass -= passes(0);
    return term[1];
  }
  /// Tiles of inner indices: a pass has one of its even and one of its odd indices.
  KOKKOS_FUNCTION int steps() const { return 2 * passes(); }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    int const rank = team.team_rank(), warp = rank / tensor::lanes, lane = rank % tensor::lanes;
    double const* c = table;
    if (!table) {
      auto* const staged =
          static_cast<double*>(team.team_scratch(0).get_shmem_aligned(table_bytes(), 16));
      for (int e = rank; e < entries(); e += tensor::threads) staged[e] = coefficient(e);
      team.team_barrier();
      c = staged;
    }
    multiply(std::int64_t(team.league_rank()) * team_rows + warp * tensor::tile_rows, lane,
             c + lane);
  }

  /// Entry e of the table: the coefficient of a lane in step s for tile v of the columns.
  KOKKOS_FORCEINLINE_FUNCTION double coefficient(int e) const {
    int const lane = e % tensor::lanes, v = e / tensor::lanes % V, s = e / tensor::lanes / V;
    int pass = s / 2;
    auto const& t = term_of(pass);
    int const l = pass * inner + 2 * (lane % 4) + s % 2;
    int const column = v * tensor::tile_columns + lane / 4;
    return l < t.X.columns && column < columns ? real_coefficient(alpha, t.C, l, column) : 0.0;
  }

  /// The fragments of a lane for `depth` passes of X: two adjacent entries of a row, and of the row
  /// 8 below.
  struct Operands {
    tensor::Pair top[depth], bottom[depth];
  };

  KOKKOS_FORCEINLINE_FUNCTION void load(std::int64_t row, int pass, int lane, Operands& a) const {
    std::int64_t const at = row + lane / 4, below = at + tensor::tile_rows / 2;
    for (int d = 0; d < depth; ++d) {
      int own = pass + d;
      auto const& t = term_of(own);
      int const l = own * inner + 2 * (lane % 4);
      a.top[d] = t.X.pair(at, l, at < rows);
      a.bottom[d] = t.X.pair(below, l, below < rows);
      if (terms == 2 && t.weights) {
        weigh(t.weights, at, a.top[d]);
        weigh(t.weights, below, a.bottom[d]);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void weigh(double const* weights, std::int64_t row,
                                         tensor::Pair& pair) const {
    double const weight = row < rows ? weights[row] : 0;
    pair.first *= weight;
    pair.second *= weight;
  }

  /// All tiles of rows of a warp, from `row` on. The next operands are loaded while the current
  /// ones are multiplied.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(std::int64_t row, int lane, double const* c) const {
    std::int64_t const stride = std::int64_t(teams) * team_rows;
    Operands a, next;
    load(row, 0, lane, a);
    while (row < rows) {
      double sums[V][4] = {};
      for (int pass = 0; pass < passes(); pass += depth) {
        bool const more = pass + depth < passes();
        load(more ? row : row + stride, more ? pass + depth : 0, lane, next);
        for (int d = 0; d < depth; ++d)
          if (pass + d < passes())
            add_pass(a.top[d], a.bottom[d], c + (pass + d) * 2 * V * tensor::lanes, sums);
        a = next;
      }
      store_rows(row, lane, sums);
      row += stride;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add_pass(tensor::Pair const& top,
                                                   tensor::Pair const& bottom, double const* b,
                                                   double (&sums)[V][4]) {
    double const even[] = {top.first, bottom.first}, odd[] = {top.second, bottom.second};
    for (int v = 0; v < V; ++v) tensor::multiply_add(even, b[v * tensor::lanes], sums[v]);
    for (int v = 0; v < V; ++v) tensor::multiply_add(odd, b[(V + v) * tensor::lanes], sums[v]);
  }

  KOKKOS_FORCEINLINE_FUNCTION void store_rows(std::int64_t row, int lane,
                                              double const (&sums)[V][4]) const {
    for (int half = 0; half < 2; ++half) {
      std::int64_t const at = row + half * tensor::tile_rows / 2 + lane / 4;
      if (at < rows)
        for (int v = 0; v < V; ++v)
          store(y + at * y_stride, v * tensor::tile_columns + 2 * (lane % 4), sums[v][2 * half],
                sums[v][2 * half + 1]);
    }
  }

  /// Stores two adjacent entries of a row: two real scalars, or one complex scalar.
  KOKKOS_FORCEINLINE_FUNCTION void store(double* to, int column, double first,
                                         double second) const {
    if (column >= columns) return;
    tensor::Pair result{first, second};
    double* const at = to + column;
    if (beta != Scalar(0)) {
      if constexpr (p == 2) {
        Scalar const add = beta * Scalar(at[0], at[1]);
        result.first += add.real();
        result.second += add.imag();
      } else {
        result.first += beta * at[0];
        if (column + 1 < columns) result.second += beta * at[1];
      }
    }
    if (column + 1 < columns)
      *reinterpret_cast<tensor::Pair*>(at) = result;
    else
      *at = result.first;
  }

  KOKKOS_FUNCTION int entries() const { return steps() * V * tensor::lanes; }
  KOKKOS_FUNCTION std::size_t table_bytes() const {
    return static_cast<std::size_t>(entries()) * sizeof(double);
  }

  void launch(Exec const& exec, Workspace<Exec>& workspace) {
    Policy policy(exec, teams, tensor::threads);
    if (table_bytes() <= tensor::most_scratch) {
      policy.set_scratch_size(0, Kokkos::PerTeam(table_bytes() + 64));
    } else {
      auto* const made =
          workspace.template device<double>(exec, Workspace<Exec>::partials, entries());
      Kokkos::parallel_for("Blockspan::combine_table",
                           Kokkos::RangePolicy<Exec>(exec, 0, entries()),
                           TensorTable<TensorCombine>{*this, made});
      table = made;
    }
    Kokkos::parallel_for("Blockspan::combine", policy, *this);
  }
};

namespace tensor {

using namespace blocks::tensor;
using blocks::tensor::fits;

inline constexpr int widest_product = 96;  ///< real columns of Y
inline constexpr int widest_inner = 288;   ///< real columns of X

/// Whether combine_on_tensor_cores supports X and Y.
template <class Scalar>
bool fits(BlockRef<Scalar const> const& X, BlockRef<Scalar> const& Y) {
  RealView<Scalar> const x(X), y(Y);
  return fits(x) && fits(y) && y.columns <= widest_product && x.columns <= widest_inner;
}

template <class Scalar>
TensorTerm<Scalar> term(BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& C,
                        real_t<Scalar> const* weights = nullptr) {
  return {rows_of(RealView<Scalar>(X)), C, weights};
}

}  // namespace tensor

/// Y = alpha sum of the terms + beta Y, where tensor::fits(X, Y) holds for every X; Y may alias X.
/// With one term, `second` is not used.
template <int terms, class Exec, class Scalar>
void combine_on_tensor_cores(Exec const& exec, Scalar alpha, TensorTerm<Scalar> const& first,
                             TensorTerm<Scalar> const& second, Scalar beta,
                             BlockRef<Scalar> const& Y, Workspace<Exec>& workspace) {
  int const tiles = ceil_div(static_cast<int>(Y.columns) * parts<Scalar>, tensor::tile_columns);
  auto const launch = [&](auto width) {
    TensorCombine<Exec, Scalar, decltype(width)::value, terms>(alpha, first, second, beta, Y)
        .launch(exec, workspace);
  };
  if (tiles <= 1) return launch(std::integral_constant<int, 1>());
  if (tiles <= 2) return launch(std::integral_constant<int, 2>());
  if (tiles <= 4) return launch(std::integral_constant<int, 4>());
  if (tiles <= 6) return launch(std::integral_constant<int, 6>());
  if (tiles <= 8) return launch(std::integral_constant<int, 8>());
  launch(std::integral_constant<int, 12>());
}

}  // namespace blockspan::multivector
