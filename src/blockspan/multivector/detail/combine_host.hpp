#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/coefficients.hpp>
#include <blockspan/multivector/detail/host_tiles.hpp>
#include <blockspan/multivector/detail/row_terms.hpp>
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

/// One term of a combination: diag(weights) X packed.
template <class Scalar>
struct HostTerm {
  RealView<Scalar> X;
  real_t<Scalar> const* packed;
  real_t<Scalar> const* weights;  ///< one a row, or null
  bool in_place;                  ///< X overlaps Y
};

/// Y = sum of the terms + beta Y, a block of rows per task. Every row of X is read before it is
/// written, so that Y may be X.
template <class Exec, class Scalar, int terms>
struct HostCombine {
  using Real = real_t<Scalar>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr int p = parts<Scalar>, block = 128;

  HostTerm<Scalar> term[terms];
  Scalar beta;
  BlockRef<Scalar> Y;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    KOKKOS_IF_ON_HOST((one_block(team);))
  }

  void one_block(typename Policy::member_type const& team) const {
    std::int64_t const first = std::int64_t(team.league_rank()) * block;
    int const count = static_cast<int>(std::min<std::int64_t>(block, Y.rows - first));
    auto* buffer = static_cast<Real*>(team.team_scratch(1).get_shmem_aligned(scratch_bytes(), 64));
    Panel<Real> x[terms];
    for (int t = 0; t < terms; ++t) {
      auto const& X = term[t].X;
      x[t] = term[t].in_place ? pack(X, first, count, X.columns, buffer)
                              : panel(X, first, count, X.columns, buffer);
      buffer += std::int64_t(block) * X.columns;
    }
    for (int j = 0; j < p * Y.columns; j += lanes<Real>) {
      int r = 0;
      for (; r + tall_tile <= count; r += tall_tile) one_tile<tall_tile>(first, r, j, x);
      for (; r < count; ++r) one_tile<1>(first, r, j, x);
    }
  }

  template <int height>
  void one_tile(std::int64_t first, int r, int j, Panel<Real> const (&x)[terms]) const {
    typename Lanes<Real>::type sums[height];
    for (int t = 0; t < terms; ++t) {
      auto const& [X, packed, weights, in_place] = term[t];
      typename Lanes<Real>::type more[height];
      multiply_rows<height>(X.columns, x[t].data + r * x[t].ld, x[t].ld,
                            packed + std::int64_t(j) * X.columns, more);
      if (weights)
        for (int a = 0; a < height; ++a) more[a] *= weights[first + r + a];
      for (int a = 0; a < height; ++a) sums[a] = t == 0 ? more[a] : sums[a] + more[a];
    }
    for (int a = 0; a < height; ++a) {
      Real row[lanes<Real>];
      std::memcpy(row, &sums[a], sizeof(row));
      store(first + r + a, j, row);
    }
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
    std::size_t columns = 0;
    for (auto const& one : term) columns += static_cast<std::size_t>(one.X.columns);
    return static_cast<std::size_t>(block) * columns * sizeof(Real);
  }

  void launch(Exec const& exec) const {
    Policy policy(exec, static_cast<int>(ceil_div(Y.rows, std::int64_t(block))), 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(scratch_bytes() + 64));
    Kokkos::parallel_for("Blockspan::combine", policy, *this);
  }
};

/// Numbers that a packed k x m matrix takes.
template <class Scalar>
std::int64_t packed_size(BlockRef<Scalar const> const& C) {
  using Real = real_t<Scalar>;
  return ceil_div(C.columns * parts<Scalar>, std::int64_t(lanes<Real>)) * C.rows * parts<Scalar> *
         lanes<Real>;
}

template <class Exec, class Scalar>
void pack_coefficients(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& C,
                       real_t<Scalar>* packed) {
  using Real = real_t<Scalar>;
  std::int64_t const rows = packed_size(C) / lanes<Real>;
  if (rows > 0)
    Kokkos::parallel_for(
        "Blockspan::combine_coefficients",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows),
        PackCoefficients<Exec, Scalar>{alpha, C, static_cast<int>(C.rows) * parts<Scalar>, packed});
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

}  // namespace blockspan::detail
