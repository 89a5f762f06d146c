#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/column_terms.hpp>

namespace blockspan::solvers {

// Passes over tall row-major blocks that produce a few scalars per column, in one read of the
// blocks (Terms of blocks/column_sums.hpp).

/// Residuals of Ritz pairs: r = sign A x - theta B x, and W = D R with a diagonal D (null: the
/// identity); per column sums |r|^2, |x|^2, |w|^2 and, of pencils, |B x|^2, v |r|^2 with weights v
/// of the rows (null: ones). Reads AX, X (and BX), writes W: 3 (4) n m scalars.
template <class Scalar, bool pencil>
struct ResidualTerms {
  using Real = real_t<Scalar>;
  // each sum needs registers, and so rows in flight: five instead of three cost a third of a
  // pass
  static constexpr int count = pencil ? 5 : 3;

  RowMajorRef<Scalar const> X, AX, BX;
  RowMajorRef<Scalar> W;
  Real const* weights;
  Real const* dual_weights;
  Real const* theta;
  Real sign;

  struct Operands {
    Scalar x, ax, bx;
    Real weight, dual;
  };
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    Operands o{X(i, j), AX(i, j), {}, weights ? weights[i] : Real(1), 1};
    if constexpr (pencil) {
      o.bx = BX(i, j);
      if (dual_weights) o.dual = dual_weights[i];
    }
    return o;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Operands const& o,
                                              Real* terms) const {
    Scalar r = sign * o.ax;
    if constexpr (pencil)
      r -= theta[j] * o.bx;
    else
      r -= theta[j] * o.x;
    Scalar const w = weights ? o.weight * r : r;
    W(i, j) = w;
    terms[0] = squared_magnitude(r);
    terms[1] = squared_magnitude(o.x);
    terms[2] = squared_magnitude(w);
    if constexpr (pencil) {
      terms[3] = squared_magnitude(o.bx);
      terms[4] = o.dual * terms[0];
    }
  }
};

/// to_i = scale p_i w_i; w null: ones.
template <class Real>
struct WeighRows {
  Real const *p, *w;
  Real scale;
  BlockRef<Real> to;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    to(i, j) = scale * p[i] * (w ? w[i] : Real(1));
  }
};

/// Largest 1 / p_i of the p_i that are not zero.
template <class Scalar>
struct LargestReciprocal {
  using Real = Scalar;
  static constexpr int count = 1;
  Real const* p;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t, Real* terms) const {
    terms[0] = p[i] > 0 ? 1 / p[i] : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) {
    if (term > total) total = term;
  }
};

/// p_i := `value` where it is zero.
template <class Real>
struct FillZeros {
  Real* p;
  Real value;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t) const {
    if (p[i] == 0) p[i] = value;
  }
};

/// Per column sums e_a |x|^2, e_b |x|^2, q_a |x|^2, q_b |x|^2 with weights of the rows (null:
/// ones).
template <class Scalar>
struct RoundingTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 4;

  RowMajorRef<Scalar const> X;
  Real const* weights[4];

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Real const square = squared_magnitude(X(i, j));
    for (int q = 0; q < count; ++q) terms[q] = weights[q] ? weights[q][i] * square : square;
  }
};

/// Norms of residuals that were changed after their pass: per column sums |r|^2 and v |r|^2 with
/// weights v of the rows (null: ones).
template <class Scalar>
struct DualNormTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 2;

  RowMajorRef<Scalar const> R;
  Real const* dual_weights;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = squared_magnitude(R(i, j));
    terms[1] = dual_weights ? dual_weights[i] * terms[0] : terms[0];
  }
};

/// Quality of directions W built from residuals R: per column sums |w|^2, Re(conj(r) w), |r|^2.
template <class Scalar>
struct DirectionTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 3;

  RowMajorRef<Scalar const> R, W;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Scalar const r = R(i, j);
    Scalar const w = W(i, j);
    terms[0] = squared_magnitude(w);
    terms[1] = real_part(conjugate(r) * w);
    terms[2] = squared_magnitude(r);
  }
};

/// Y(k) += factor X(k), k of all entries.
template <class Scalar>
struct AddScaled {
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  real_t<Scalar> factor;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t const i = k / Y.columns, j = k % Y.columns;
    Y(i, j) += factor * X(i, j);
  }
};

/// Y += factor X. Does not wait.
template <class Scalar, class Exec>
void add_scaled(Exec const& exec, real_t<Scalar> factor, Block<Scalar, Exec> const& X,
                Block<Scalar, Exec> const& Y) {
  auto const to = block_ref<Exec>(Y);
  Kokkos::parallel_for(
      "Blockspan::solvers::add_scaled",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, to.rows * to.columns),
      AddScaled<Scalar>{block_ref<Exec>(ConstBlock<Scalar, Exec>(X)), to, factor});
}

}  // namespace blockspan::solvers
