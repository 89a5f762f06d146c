#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include <blockspan/blocks/small_factor.hpp>
#include <blockspan/solvers/cg/block/block_passes.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>

namespace blockspan::krylov {

/// Small square matrices of a solver, allocated once.
template <class Scalar>
struct SmallScratch {
  explicit SmallScratch(int most)
      : gram(small_matrix<Scalar>(most, most)),
        map(small_matrix<Scalar>(most, most)),
        inverse(small_matrix<Scalar>(most, most)),
        scaled(small_matrix<Scalar>(most, most)) {}
  SmallMatrix<Scalar> gram, map, inverse, scaled;
};

/// T = W zeta with W^H M^-1 W = I in the leading columns of T (and M^-1 W in the place of M^-1 T):
/// SVQB that reveals the rank and repeats itself. Directions are dropped only where their true
/// length, measured on W, is at the rounding level of T: dropping at the square root of it, as one
/// Gram matrix suggests, would lose residual components of size 1e-7.
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
  std::vector<Real> lambda, D;
  if (lapack::hermitian_eigen(G, lambda) != 0 || !(lambda[r - 1] > 0)) return 0;
  Real const least = r * Limits::u * lambda[r - 1];
  auto const C = part(scratch.map, 0, r, 0, r);
  svqb_coefficients(G, lambda, pre, r, least, C, &zeta_out);
  passes.transform(C);

  auto gram = part(scratch.gram, 0, r, 0, r);
  passes.gram(r, gram);
  std::vector<int> kept;
  for (int i = 0; i < r; ++i) {
    Real const squared =
        std::max(Real(0), real_part(gram(i, i))) * std::max(lambda[r - 1 - i], least);
    if (std::sqrt(squared) > 4 * Limits::u * scale * std::sqrt(Real(r))) kept.push_back(i);
  }
  int rows = r, now = static_cast<int>(kept.size());
  for (int pass = 1; now > 0; ++pass) {
    auto const scaled = part(scratch.scaled, 0, now, 0, now);
    for (int b = 0; b < now; ++b)
      for (int a = 0; a < now; ++a) scaled(a, b) = gram(kept[a], kept[b]);
    if (!scale_to_unit_diagonal(scaled, D, scaled) || lapack::hermitian_eigen(scaled, lambda) != 0)
      return 0;
    int next = 0;
    while (next < now && lambda[now - 1 - next] > Limits::kept) ++next;
    auto const map = part(scratch.map, 0, rows, 0, next),
               R = part(scratch.inverse, 0, next, 0, now);
    svqb_coefficients(scaled, lambda, D, next, Real(0), map, &R);
    for (int a = 0; a < now; ++a)
      for (int j = 0; j < r; ++j) zeta_out(a, j) = zeta_out(kept[a], j);
    for (int row = rows - 1, a = now - 1; row >= 0; --row) {  // of columns not kept: zeros
      bool const is_kept = a >= 0 && kept[a] == row;
      for (int b = 0; b < next; ++b) map(row, b) = is_kept ? map(a, b) : Scalar(0);
      a -= is_kept ? 1 : 0;
    }
    auto const zeta = part(scratch.gram, 0, next, 0, r);
    product(R, part(zeta_out, 0, now, 0, r), zeta);
    copy_small(zeta, part(zeta_out, 0, next, 0, r));
    passes.transform(map);
    rows = now = next;
    kept.resize(now);
    std::iota(kept.begin(), kept.end(), 0);
    if (now == 0) break;
    gram = part(scratch.gram, 0, now, 0, now);
    passes.gram(now, gram);
    if (pass == 4 || defect_from_diagonal(gram) < Limits::orthonormal) break;
  }
  return now;
}

}  // namespace blockspan::krylov
