#pragma once

#include <cmath>
#include <vector>

#include <blockspan/solvers/cg/block_passes.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>

namespace blockspan::detail {

/// Small square matrices of a solver, allocated once.
template <class Scalar>
struct SmallScratch {
  explicit SmallScratch(int most)
      : gram(small_matrix<Scalar>(most, most)),
        map(small_matrix<Scalar>(most, most)),
        product(small_matrix<Scalar>(most, most)) {}
  SmallMatrix<Scalar> gram, map, product;
};

/// T = W zeta with W^H M^-1 W = I in the leading columns of T (and M^-1 W in the place of M^-1 T):
/// Cholesky QR that reveals the rank and repeats itself. Directions are dropped only where their
/// true length, measured on W, is at the rounding level of T: dropping at the square root of it, as
/// one Gram matrix suggests, would lose residual components of size 1e-7.
///
/// On entry pre holds factors of the columns of T, and G = (T pre)^H M^-1 (T pre), r x r;
/// `scale` is the size of what was subtracted to form T. zeta gets r_new x r. Returns r_new.
/// Synchronizes 2 to 5 times.
template <class Scalar, class Exec>
int orthonormalize_residual(BlockPasses<Scalar, Exec>& passes, SmallMatrix<Scalar> const& G,
                            std::vector<real_t<Scalar>> const& pre, real_t<Scalar> scale,
                            SmallMatrix<Scalar> const& zeta_out, SmallScratch<Scalar>& scratch) {
  using Real = real_t<Scalar>;
  using Limits = CgThresholds<Real>;
  int const r = static_cast<int>(G.extent(0));
  std::vector<Real> lambda, lengths(r);
  if (lapack::hermitian_eigen(G, lambda) != 0 || !(lambda[r - 1] > 0)) return 0;
  auto const C = part(scratch.map, 0, r, 0, r);
  for (int i = 0; i < r; ++i) {
    lengths[i] = std::sqrt(std::max(lambda[i], r * Limits::u * lambda[r - 1]));
    for (int a = 0; a < r; ++a) {
      C(a, i) = G(a, i) * (pre[a] / lengths[i]);
      zeta_out(i, a) = conjugate(G(a, i)) * lengths[i];
    }
  }
  passes.transform(C);

  auto gram = part(scratch.gram, 0, r, 0, r);
  passes.gram(r, gram);
  std::vector<int> kept;
  for (int i = 0; i < r; ++i) {
    Real const length = std::sqrt(std::max(Real(0), real_part(gram(i, i)))) * lengths[i];
    if (length > 4 * Limits::u * scale * std::sqrt(Real(r))) kept.push_back(i);
  }
  int rows = r, now = static_cast<int>(kept.size());
  for (int pass = 1; now > 0; ++pass) {
    // The Gram matrix of the kept columns, scaled to a unit diagonal.
    std::vector<Real> d(now);
    auto const scaled = part(scratch.product, 0, now, 0, now);
    for (int a = 0; a < now; ++a) d[a] = std::sqrt(real_part(gram(kept[a], kept[a])));
    for (int b = 0; b < now; ++b)
      for (int a = 0; a < now; ++a) scaled(a, b) = gram(kept[a], kept[b]) / (d[a] * d[b]);
    if (lapack::hermitian_eigen(scaled, lambda) != 0) return 0;
    int first = 0;
    while (first < now && !(lambda[first] > Limits::kept)) ++first;
    int const next = now - first;
    auto const map = part(scratch.map, 0, rows, 0, next);
    for (int b = 0; b < next; ++b) {
      for (int a = 0; a < rows; ++a) map(a, b) = Scalar(0);
      for (int a = 0; a < now; ++a)
        map(kept[a], b) = scaled(a, first + b) / (d[a] * std::sqrt(lambda[first + b]));
    }
    // zeta := Lambda^1/2 U^H diag(d) zeta, by way of the Gram matrix' memory
    auto const zeta = part(scratch.gram, 0, next, 0, r);
    for (int j = 0; j < r; ++j)
      for (int b = 0; b < next; ++b) {
        Scalar sum(0);
        for (int a = 0; a < now; ++a)
          sum += conjugate(scaled(a, first + b)) * (d[a] * zeta_out(kept[a], j));
        zeta(b, j) = sum * std::sqrt(lambda[first + b]);
      }
    copy_small(zeta, part(zeta_out, 0, next, 0, r));
    passes.transform(map);
    rows = now = next;
    kept.resize(now);
    for (int a = 0; a < now; ++a) kept[a] = a;
    if (now == 0) break;
    gram = part(scratch.gram, 0, now, 0, now);
    passes.gram(now, gram);
    if (pass == 4 || defect_from_diagonal(gram) < Limits::orthonormal) break;
  }
  return now;
}

}  // namespace blockspan::detail
