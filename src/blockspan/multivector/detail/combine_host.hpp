#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/coefficients.hpp>
#include <blockspan/multivector/detail/host_tiles.hpp>
#include <blockspan/multivector/workspace.hpp>

namespace blockspan::detail {

/// alpha C as a real matrix (a complex entry is [re im; -im re]) in column tiles of `lanes`: entry
/// (l, b) of tile t is packed[(t inner + l) lanes + b], with zeros beyond the last column.
template <class Exec, class Scalar>
struct PackCoefficients {
  using Real = real_t<Scalar>;
  static constexpr int p = parts<Scalar>;

  Scalar alpha;
  BlockRef<Scalar const> C;
  int inner;  ///< real rows of C
  Real* packed;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    int const l = static_cast<int>(index % inner), tile = static_cast<int>(index / inner);
    for (int b = 0; b < lanes<Real>; ++b) {
      int const column = tile * lanes<Real> + b;
      packed[index * lanes<Real> + b] =
          column < p * C.columns ? real_coefficient(alpha, C, l, column) : Real(0);
    }
  }
};

/// Y = X packed + beta Y, a block of rows per task. Every row of X is read before it is written, so
/// that Y may be X.
template <class Exec, class Scalar>
struct HostCombine {
  using Real = real_t<Scalar>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr int p = parts<Scalar>, block = 128;

  RealView<Scalar> X;
  Real const* packed;
  Scalar beta;
  BlockRef<Scalar> Y;
  bool in_place;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    KOKKOS_IF_ON_HOST((one_block(team);))
  }

  void one_block(typename Policy::member_type const& team) const {
    std::int64_t const first = std::int64_t(team.league_rank()) * block;
    int const count = static_cast<int>(std::min<std::int64_t>(block, Y.rows - first));
    auto* const buffer =
        static_cast<Real*>(team.team_scratch(1).get_shmem_aligned(scratch_bytes(), 64));
    auto const x = in_place ? pack(X, first, count, X.columns, buffer)
                            : panel(X, first, count, X.columns, buffer);
    for (int j = 0; j < p * Y.columns; j += lanes<Real>) {
      int r = 0;
      for (; r + tall_tile <= count; r += tall_tile) one_tile<tall_tile>(first, r, j, x);
      for (; r < count; ++r) one_tile<1>(first, r, j, x);
    }
  }

  template <int height>
  void one_tile(std::int64_t first, int r, int j, Panel<Real> const& x) const {
    Real sums[height][lanes<Real>];
    multiply_rows<height>(X.columns, x.data + r * x.ld, x.ld, packed + std::int64_t(j) * X.columns,
                          sums);
    for (int a = 0; a < height; ++a) store(first + r + a, j, sums[a]);
  }

  void store(std::int64_t row, int j, Real const (&sums)[lanes<Real>]) const {
    int const count = std::min<int>(lanes<Real>, static_cast<int>(p * Y.columns) - j);
    bool const add = beta != Scalar(0);
    if (!add && Y.column_stride == 1 && count == lanes<Real>) {
      Real* const y = reinterpret_cast<Real*>(&Y(row, 0)) + j;
      for (int b = 0; b < lanes<Real>; ++b) y[b] = sums[b];
      return;
    }
    for (int b = 0; b < count; b += p) {
      Scalar& y = Y(row, (j + b) / p);
      Scalar sum;
      if constexpr (p == 1)
        sum = sums[b];
      else
        sum = Scalar(sums[b], sums[b + 1]);
      y = add ? Scalar(sum + beta * y) : sum;
    }
  }

  std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(X.columns) * sizeof(Real);
  }

  void launch(Exec const& exec) const {
    Policy policy(exec, static_cast<int>(ceil_div(Y.rows, std::int64_t(block))), 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::combine", policy, *this);
  }
};

template <class Exec, class Scalar>
void combine_on_host(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& X,
                     BlockRef<Scalar const> const& C, Scalar beta, BlockRef<Scalar> const& Y,
                     bool in_place, Workspace<Exec>& workspace) {
  using Real = real_t<Scalar>;
  int const inner = static_cast<int>(X.columns) * parts<Scalar>;
  std::int64_t const packed_rows =
      ceil_div(Y.columns * parts<Scalar>, std::int64_t(lanes<Real>)) * inner;
  Real* const packed = workspace.template device<Real>(exec, Workspace<Exec>::coefficients,
                                                       packed_rows * lanes<Real>);
  if (packed_rows > 0)
    Kokkos::parallel_for(
        "Blockspan::combine_coefficients",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, packed_rows),
        PackCoefficients<Exec, Scalar>{alpha, C, inner, packed});
  HostCombine<Exec, Scalar>{RealView<Scalar>(X), packed, beta, Y, in_place}.launch(exec);
}

}  // namespace blockspan::detail
