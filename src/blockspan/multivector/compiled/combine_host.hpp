#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/compiled/host_tiles.hpp>
#include <blockspan/multivector/terms/row_terms.hpp>

namespace blockspan::multivector {

/// alpha C as a real matrix (a complex entry becomes [re im; -im re]), packed by tiles of columns:
/// entry (l, b) of the tile that begins with column j is packed[j inner + l width + b], with zeros
/// beyond the last column.
template <class Exec, class Scalar>
struct PackCoefficients {
  using Real = real_t<Scalar>;
  static constexpr int p = parts<Scalar>;

  Scalar alpha;
  BlockRef<Scalar const> C;
  int inner;  ///< real rows of C
  Real* packed;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    int const l = static_cast<int>(row);
    for_each_tile<Real>(p * static_cast<int>(C.columns), [&](int j, int width) {
      Real* const to = packed + (std::int64_t(j) * inner + l * width);
      for (int b = 0; b < width; ++b)
        to[b] = j + b < p * C.columns ? real_coefficient(alpha, C, l, j + b) : Real(0);
    });
  }
};

/// One term of a combination: diag(weights) X packed.
template <class Scalar>
struct HostTerm {
  RealView<Scalar> X;
  real_t<Scalar> const* packed;
  real_t<Scalar> const* weights;  ///< one a row, or null
  bool in_place;                  ///< X aliases Y
};

/// Y = sum of the terms + beta Y, one block of rows per task. Every row of X is read before it is
/// written, so that Y may alias X: with one tile per row all sums of a tile are complete before
/// they are stored, with several the rows are copied first.
template <class Exec, class Scalar, int terms>
struct HostCombine {
  using Real = real_t<Scalar>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr int p = parts<Scalar>;

  HostTerm<Scalar> term[terms];
  Scalar beta;
  BlockRef<Scalar> Y;
  int block = 0;  ///< rows of a task; more for narrow blocks, whose tasks would be too short

  KOKKOS_FUNCTION void operator()([[maybe_unused]] typename Policy::member_type const& team) const {
    KOKKOS_IF_ON_HOST((one_block(team);))
  }

  void one_block(typename Policy::member_type const& team) const {
    std::int64_t const first = std::int64_t(team.league_rank()) * block;
    int const count = static_cast<int>(std::min<std::int64_t>(block, Y.rows - first));
    auto* buffer = static_cast<Real*>(team.team_scratch(1).get_shmem_aligned(scratch_bytes(), 64));
    int const columns = p * static_cast<int>(Y.columns);
    Panel<Real> x[terms];
    for (int t = 0; t < terms; ++t) {
      auto const& X = term[t].X;
      x[t] = term[t].in_place && columns > widest_tile<Real>
                 ? pack(X, first, count, X.columns, buffer)
                 : panel(X, first, count, X.columns, buffer);
      buffer += std::int64_t(block) * X.columns;
    }
    for_each_tile<Real>(columns, [&](int j, auto width) {
      constexpr int height = tile_height<Real>(width);
      int r = 0;
      for (; r + height <= count; r += height) one_tile<height, width>(first, r, count, j, x);
      for (; r < count; ++r) one_tile<1, width>(first, r, count, j, x);
    });
  }

  template <int height, int width>
  BLOCKSPAN_HOST_INLINE void one_tile(std::int64_t first, int r, int count, int j,
                                      Panel<Real> const (&x)[terms]) const {
    auto const product = [&](int t) {
      return multiply_tile<height, width, tile_height<Real>(width)>(
          term[t].X.columns, x[t].data + r * x[t].row_stride, x[t].row_stride, 1,
          term[t].packed + std::int64_t(j) * term[t].X.columns, width);
    };
    auto const weigh = [&](int t, auto& sums) {
      if (Real const* const weights = term[t].weights)
        sums.for_each_row([&](int a, auto& row) { row.scale(weights[first + r + a]); });
    };
    auto sums = product(0);
    weigh(0, sums);
    for (int t = 1; t < terms; ++t) {
      auto more = product(t);
      weigh(t, more);
      sums.add(more);
    }
    store(first + r, count - r - height, j, sums);
  }

  /// behind: number of rows of the task after those of the tile.
  template <int height, int width>
  BLOCKSPAN_HOST_INLINE void store(std::int64_t row, int behind, int j,
                                   TileSums<Real, height, width>& sums) const {
    int const columns = p * static_cast<int>(Y.columns), count = std::min(width, columns - j);
    bool const whole = count == width;
    std::int64_t const stride = p * Y.row_stride;
    // Contiguous rows are stored at the width of the tile: the excess is overwritten by the next
    // row. What the last row of a tile overwrites behind its end, which may be X, is restored from
    // a register, except where the loads of the next tile would stall on that store: for tiles of
    // two registers of 64 bytes.
    constexpr int piece = register_width<Real>(width);
    bool const put_back = behind >= 2 && (register_bytes < 64 || piece == width);
    bool const gapless = stride == columns && count == columns && 2 * count > width;
    alignas(register_bytes) Real numbers[height * width];
    if (beta == Scalar(0) && Y.column_stride == 1 && (whole || gapless)) {
      Real* const to = reinterpret_cast<Real*>(Y.data) + row * stride + j;
      // if GCC 12 did not inline it, it would keep the sums in memory
      sums.for_each_row([&](int a, auto const& sum) __attribute__((always_inline)) {
        bool const last = !whole && a + 1 == height;
        Real* const end = to + a * stride + count;
        RegisterSet<Real, piece> next;
        if (last && put_back) next.load(end);
        sum.store(last && !put_back ? numbers : to + a * stride);
        if (last && put_back) next.store(end);
      });
      if (!whole && !put_back) store_some<width>(row + height - 1, 1, j, numbers, count);
      return;
    }
    sums.for_each_row([&](int a, auto const& sum) { sum.store(numbers + a * width); });
    store_some<width>(row, height, j, numbers, count);
  }

  /// Stores rows that are not whole tile rows. Not inlined: GCC 12 would keep the sums of AVX2 in
  /// memory.
  template <int width>
  BLOCKSPAN_NOINLINE void store_some(std::int64_t first, int rows, int j, Real const* numbers,
                                     int count) const {
    bool const add = beta != Scalar(0);
    if (!add && Y.column_stride == 1) {
      std::int64_t const stride = p * Y.row_stride;
      Real* to = reinterpret_cast<Real*>(Y.data) + first * stride + j;
      for (int r = 0; r < rows; ++r, to += stride)
        copy_row<Real, width / 2>(numbers + r * width, to, count);
      return;
    }
    for (std::int64_t row = first; row < first + rows; ++row, numbers += width) {
      for (int b = 0; b < count; b += p) {
        Scalar& y = Y(row, (j + b) / p);
        Scalar sum;
        if constexpr (p == 1)
          sum = numbers[b];
        else
          sum = Scalar(numbers[b], numbers[b + 1]);
        y = add ? Scalar(sum + beta * y) : sum;
      }
    }
  }

  std::size_t row_bytes() const {
    std::size_t columns = 0;
    for (auto const& one : term) columns += static_cast<std::size_t>(one.X.columns);
    return columns * sizeof(Real);
  }
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(block) * row_bytes(); }

  void launch(Exec const& exec) {
    constexpr int heights = 24;  // a multiple of every tile_height
    block = std::clamp(16384 / (static_cast<int>(row_bytes()) + 1) / heights * heights, 6 * heights,
                       42 * heights);
    Policy policy(exec, static_cast<int>(ceil_div(Y.rows, std::int64_t(block))), 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::combine", policy, *this);
  }
};

/// Number of scalars of a packed k x m matrix.
template <class Scalar>
std::int64_t packed_size(BlockRef<Scalar const> const& C) {
  int const columns = static_cast<int>(C.columns) * parts<Scalar>;
  return tiled_columns<real_t<Scalar>>(columns) * C.rows * parts<Scalar>;
}

template <class Exec, class Scalar>
void pack_coefficients(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& C,
                       real_t<Scalar>* packed) {
  std::int64_t const inner = C.rows * parts<Scalar>;
  if (inner > 0)
    for_each_task(exec, "Blockspan::combine_coefficients", inner, packed_size(C),
                  PackCoefficients<Exec, Scalar>{alpha, C, static_cast<int>(inner), packed});
}

template <class Exec, class Scalar>
void combine_on_host(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& X,
                     BlockRef<Scalar const> const& C, Scalar beta, BlockRef<Scalar> const& Y,
                     bool in_place, Workspace<Exec>& workspace) {
  using Real = real_t<Scalar>;
  Real* const packed =
      workspace.template device<Real>(exec, Workspace<Exec>::coefficients, packed_size(C));
  pack_coefficients(exec, alpha, C, packed);
  HostCombine<Exec, Scalar, 1>{{{RealView<Scalar>(X), packed, nullptr, in_place}}, beta, Y}.launch(
      exec);
}

template <class Exec, class Scalar>
void combine_terms_on_host(Exec const& exec, RowTerm<Scalar> const& first,
                           RowTerm<Scalar> const& second, BlockRef<Scalar> const& Y,
                           Workspace<Exec>& workspace) {
  using Real = real_t<Scalar>;
  std::int64_t const size = packed_size(first.C);
  Real* const packed = workspace.template device<Real>(exec, Workspace<Exec>::coefficients,
                                                       size + packed_size(second.C));
  pack_coefficients(exec, Scalar(1), first.C, packed);
  pack_coefficients(exec, Scalar(1), second.C, packed + size);
  auto const term = [&](RowTerm<Scalar> const& from, Real const* coefficients) {
    return HostTerm<Scalar>{RealView<Scalar>(from.X), coefficients, from.weights,
                            from.X.data == Y.data};
  };
  HostCombine<Exec, Scalar, 2>{{term(first, packed), term(second, packed + size)}, Scalar(0), Y}
      .launch(exec);
}

}  // namespace blockspan::multivector
