#pragma once

#include <algorithm>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/compiled/combine_tensor.hpp>
#include <blockspan/multivector/compiled/device_tiles.hpp>
#include <blockspan/multivector/terms/row_terms.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::multivector {

/// Y = alpha sum of the terms + beta Y. A team computes a block of rows and up to 64 real columns.
/// X is staged transposed together with C, and a thread holds 4 rows x 4 columns of the product.
/// The results pass through scratch, so that Y is read and written in the order of its layout. All
/// rows of a team are read before the first is written: for up to 64 real columns, Y may alias X.
/// Traffic: X once per column tile, Y once.
template <class Exec, class Scalar, int terms>
struct DeviceCombine {
  using Real = real_t<Scalar>;
  using Policy = device::Policy<Exec>;
  using Term = RowTerm<Scalar, RealView<Scalar>>;
  static constexpr int edge = device::edge, pad = device::Vector<Real>::size, p = parts<Scalar>;

  Scalar alpha;
  Term term[terms];
  Scalar beta;
  BlockRef<Scalar> Y;
  int row_blocks, rows_at_once, inner_at_once;  ///< of a team

  DeviceCombine(Scalar alpha_, Term const (&terms_)[terms], Scalar beta_,
                BlockRef<Scalar> const& Y_)
      : DeviceCombine(alpha_, terms_, beta_, Y_, std::make_integer_sequence<int, terms>()) {}

  template <int... t>
  DeviceCombine(Scalar alpha_, Term const (&terms_)[terms], Scalar beta_,
                BlockRef<Scalar> const& Y_, std::integer_sequence<int, t...>)
      : alpha(alpha_), term{terms_[t]...}, beta(beta_), Y(Y_) {
    int const widest = std::min(device::block, ceil_div(columns(), edge) * edge);
    rows_at_once = device::threads / (widest / edge) * edge;
    // X and C share the scratch: (rows + pad + width) scalars for each inner index.
    inner_at_once = device::staged<Real> / (rows_at_once + pad + widest);
    row_blocks = static_cast<int>(ceil_div(Y.rows, std::int64_t(rows_at_once)));
  }

  KOKKOS_FUNCTION int columns() const { return static_cast<int>(Y.columns) * p; }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    std::int64_t const row = std::int64_t(team.league_rank() % row_blocks) * rows_at_once;
    int const j = team.league_rank() / row_blocks * device::block;
    int const count = static_cast<int>(device::smaller<std::int64_t>(rows_at_once, Y.rows - row));
    int const width = device::smaller(device::block, ceil_div(columns() - j, edge) * edge);
    int const across = width / edge, rank = team.team_rank();
    int const a = rank / across * edge, b = rank % across * edge, ld = rows_at_once + pad;
    bool const busy = a < rows_at_once;
    auto* const x = static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(scratch_bytes(), 16));
    Real* const c = x + inner_at_once * ld;
    Real sums[edge][edge] = {};
    for (int t = 0; t < terms; ++t) {
      auto const& X = term[t].X;
      auto const& C = term[t].C;
      auto const* const weights = term[t].weights;
      for (int l = 0; l < X.columns; l += inner_at_once) {
        int const depth = device::smaller(inner_at_once, X.columns - l);
        device::stage(X, rank, row, count, rows_at_once, l, depth, [=](int r, int col, Real value) {
          x[col * ld + r] = weights && r < count ? weights[row + r] * value : value;
        });
        for (int e = rank; e < depth * width; e += device::threads) {
          int const column = j + e % width;
          c[e] = column < columns() ? real_coefficient(alpha, C, l + e / width, column) : Real(0);
        }
        team.team_barrier();
        if (busy)
          for (int s = 0; s < depth; ++s) add_outer(x + s * ld + a, c + s * width + b, sums);
        team.team_barrier();
      }
    }
    if (busy)
      for (int r = 0; r < edge; ++r)
        for (int q = 0; q < edge; ++q) x[(a + r) * width + b + q] = sums[r][q];
    team.team_barrier();
    store(rank, row, count, j, width, x);
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add_outer(Real const* x, Real const* c,
                                                    Real (&sums)[edge][edge]) {
    Real left[edge], right[edge];
    device::load_edge(x, left);
    device::load_edge(c, right);
    for (int r = 0; r < edge; ++r)
      for (int q = 0; q < edge; ++q) sums[r][q] += left[r] * right[q];
  }

  /// Writes the tile of sums (rows x width, row-major) to Y.
  KOKKOS_FORCEINLINE_FUNCTION void store(int rank, std::int64_t row, int count, int j, int width,
                                         Real const* sums) const {
    int const own = device::smaller(width, columns() - j) / p;
    auto const walk = device::Walk::over(rank, own, Y.row_stride < Y.column_stride);
    bool const add = beta != Scalar(0);
    for (int col = walk.c; col < own; col += walk.column_step)
      for (int r = walk.r; r < count; r += walk.row_step) {
        Scalar& y = Y(row + r, j / p + col);
        Real const* const s = sums + r * width + p * col;
        Scalar sum;
        if constexpr (p == 2)
          sum = Scalar(s[0], s[1]);
        else
          sum = s[0];
        y = add ? Scalar(sum + beta * y) : sum;
      }
  }

  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    constexpr std::size_t tile = device::threads * edge * edge * sizeof(Real);
    return tile > device::staged_bytes ? tile : device::staged_bytes;
  }

  void launch(Exec const& exec) const {
    Policy policy(exec, row_blocks * ceil_div(columns(), device::block), device::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::combine", policy, *this);
  }
};

template <class Exec, class Scalar>
void combine_on_device(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& X,
                       BlockRef<Scalar const> const& C, Scalar beta, BlockRef<Scalar> const& Y,
                       [[maybe_unused]] Workspace<Exec>& workspace) {
  if constexpr (tensor::available<Exec, real_t<Scalar>>)
    if (tensor::fits<Scalar>(X, Y)) {
      auto const term = tensor::term<Scalar>(X, C);
      return combine_on_tensor_cores<1, Exec, Scalar>(exec, alpha, term, term, beta, Y, workspace);
    }
  using Kernel = DeviceCombine<Exec, Scalar, 1>;
  Kernel(alpha, {{RealView<Scalar>(X), C, nullptr}}, beta, Y).launch(exec);
}

/// Y = first + second, for up to 64 real columns of Y; X may alias Y.
template <class Exec, class Scalar>
void combine_terms_on_device(Exec const& exec, RowTerm<Scalar> const& first,
                             RowTerm<Scalar> const& second, BlockRef<Scalar> const& Y,
                             [[maybe_unused]] Workspace<Exec>& workspace) {
  if constexpr (tensor::available<Exec, real_t<Scalar>>)
    if (tensor::fits<Scalar>(first.X, Y) && tensor::fits<Scalar>(second.X, Y))
      return combine_on_tensor_cores<2, Exec, Scalar>(
          exec, Scalar(1), tensor::term<Scalar>(first.X, first.C, first.weights),
          tensor::term<Scalar>(second.X, second.C, second.weights), Scalar(0), Y, workspace);
  using Kernel = DeviceCombine<Exec, Scalar, 2>;
  Kernel(Scalar(1),
         {{RealView<Scalar>(first.X), first.C, first.weights},
          {RealView<Scalar>(second.X), second.C, second.weights}},
         Scalar(0), Y)
      .launch(exec);
}

/// Y: the leading columns of X. Products of more columns go through a buffer, a chunk of rows at a
/// time.
template <class Exec, class Scalar>
void combine_in_place_on_device(Exec const& exec, BlockRef<Scalar> const& X,
                                BlockRef<Scalar const> const& C, BlockRef<Scalar> const& Y,
                                Workspace<Exec>& workspace) {
  bool narrow = Y.columns * parts<Scalar> <= device::block;
  if constexpr (tensor::available<Exec, real_t<Scalar>>)
    narrow = narrow || tensor::fits<Scalar>(X, Y);
  if (narrow)
    return combine_on_device<Exec, Scalar>(exec, Scalar(1), X, C, Scalar(0), Y, workspace);
  std::int64_t const bytes = std::int64_t(16) << 20;
  std::int64_t const at_once = std::min<std::int64_t>(
      X.rows, std::max<std::int64_t>(1, bytes / (Y.columns * std::int64_t(sizeof(Scalar)))));
  auto* const buffer =
      workspace.template device<Scalar>(exec, Workspace<Exec>::product, at_once * Y.columns);
  for (std::int64_t row = 0; row < X.rows; row += at_once) {
    std::int64_t const count = std::min(at_once, X.rows - row);
    BlockRef<Scalar> const x{&X(row, 0), count, X.columns, X.row_stride, X.column_stride};
    BlockRef<Scalar> const y{&Y(row, 0), count, Y.columns, Y.row_stride, Y.column_stride};
    BlockRef<Scalar> const product{buffer, count, Y.columns, Y.columns, 1};
    combine_on_device<Exec, Scalar>(exec, Scalar(1), x, C, Scalar(0), product, workspace);
    copy_block<Exec, Scalar>(exec, product, y);
  }
}

}  // namespace blockspan::multivector
