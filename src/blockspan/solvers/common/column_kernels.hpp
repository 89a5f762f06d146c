#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/solvers/common/fold_rows.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

// Passes over tall row-major blocks that produce a few numbers per column, in one read of the
// blocks (see fold_rows.hpp).

/// Residuals of Ritz pairs: r = sign A x - theta B x, and W = D R with a diagonal D (null: the
/// identity); per column sums |r|^2, |x|^2, |B x|^2, |w|^2, v |r|^2 with weights v of the rows
/// (null: ones). Reads AX, X (and BX), writes W: 3 (4) n m scalars.
template <class Scalar>
struct ResidualTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 5;

  BlockRef<Scalar const> X, AX, BX;
  BlockRef<Scalar> W;
  Real const* weights;
  Real const* dual_weights;
  Real const* theta;
  Real sign;
  bool generalized;

  struct Operands {
    Scalar x, ax, bx;
    Real weight, dual;
  };
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    Scalar const x = X(i, j);
    return {x, AX(i, j), generalized ? BX(i, j) : x, weights ? weights[i] : Real(1),
            dual_weights ? dual_weights[i] : Real(1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Operands const& o,
                                              Real* terms) const {
    Scalar const r = sign * o.ax - theta[j] * o.bx, w = weights ? o.weight * r : r;
    W(i, j) = w;
    terms[0] = squared_magnitude(r);
    terms[1] = squared_magnitude(o.x);
    terms[2] = squared_magnitude(o.bx);
    terms[3] = squared_magnitude(w);
    terms[4] = o.dual * terms[0];
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { total += term; }
};

/// Per column sums e_a |x|^2, e_b |x|^2, q_a |x|^2, q_b |x|^2 with weights of the rows (null:
/// ones).
template <class Scalar>
struct RoundingTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 4;

  BlockRef<Scalar const> X;
  Real const* weights[4];

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Real const square = squared_magnitude(X(i, j));
    for (int q = 0; q < count; ++q) terms[q] = weights[q] ? weights[q][i] * square : square;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { total += term; }
};

/// Norms of residuals that were changed after their pass: per column sums |r|^2 and v |r|^2 with
/// weights v of the rows (null: ones).
template <class Scalar>
struct DualNormTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 2;

  BlockRef<Scalar const> R;
  Real const* dual_weights;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = squared_magnitude(R(i, j));
    terms[1] = dual_weights ? dual_weights[i] * terms[0] : terms[0];
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { total += term; }
};

/// Quality of directions W built from residuals R: per column sums |w|^2, Re(conj(r) w), |r|^2.
template <class Scalar>
struct DirectionTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 3;

  BlockRef<Scalar const> R, W;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Scalar const r = R(i, j);
    Scalar const w = W(i, j);
    terms[0] = squared_magnitude(w);
    terms[1] = real_part(conjugate(r) * w);
    terms[2] = squared_magnitude(r);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { total += term; }
};

/// Largest magnitude of real and imaginary parts per column; NaN if there is one.
template <class Scalar>
struct LargestTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    if constexpr (is_complex_v<Scalar>) {
      terms[0] = Kokkos::abs(X(i, j).real());
      fold(terms[0], Kokkos::abs(X(i, j).imag()));
    } else {
      terms[0] = Kokkos::abs(X(i, j));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) {
    if (term > total || term != term) total = term;
  }
};

/// Runs both stages and brings the numbers to the host: q * columns + j holds number q of column j.
/// Fences exec. Keeps its buffers between calls.
template <class Exec, class Real>
class ColumnFolder {
 public:
  template <class Terms>
  std::vector<Real> operator()(Exec const& exec, char const* label, Terms const& terms,
                               std::int64_t rows, std::int64_t columns) {
    using Rows = FoldRows<Exec, Terms>;
    std::int64_t const width = Terms::count * columns, chunks = Rows::chunks_of(rows);
    grow(exec, chunks, width);
    Rows{terms, rows, columns, chunks, partial_}.launch(exec, label);
    FoldPartials<Exec, Terms>{partial_, total_.data(), chunks}.launch(exec, width);
    return to_host(exec, width);
  }

 private:
  using Numbers = FoldedChunks<Exec, Real>;

  void grow(Exec const& exec, std::int64_t count, std::int64_t width) {
    constexpr char const* label = "Blockspan::solvers::partials";
    if (static_cast<std::int64_t>(partial_.extent(0)) < count ||
        static_cast<std::int64_t>(partial_.extent(1)) < width)
      partial_ = allocate<Numbers>(exec, label, std::max<std::int64_t>(count, partial_.extent(0)),
                                   std::max<std::int64_t>(width, partial_.extent(1)));
    if (static_cast<std::int64_t>(total_.size()) < width)
      total_ = allocate<Totals>(exec, label, width);
  }

  std::vector<Real> to_host(Exec const& exec, std::int64_t width) {
    std::vector<Real> result(width);
    Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const target(
        result.data(), width);
    Kokkos::deep_copy(exec, target,
                      Kokkos::subview(total_, std::pair<std::int64_t, std::int64_t>(0, width)));
    exec.fence("Blockspan::solvers: column numbers");
    return result;
  }

  using Totals = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  Numbers partial_;
  Totals total_;
};

}  // namespace blockspan::detail
