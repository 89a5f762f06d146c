#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/workspace.hpp>

// Orthonormal bases of blocks, in the inner product of a matrix B too.

namespace blockspan {

struct OrthonormalizeReport {
  int rank = 0;             ///< leading columns that now form a basis
  int passes = 0;           ///< Gram matrix and combination of the whole block
  bool used_svqb = false;   ///< a Gram matrix was too ill-conditioned for Cholesky
  bool indefinite = false;  ///< some v^H B v < -1e-10 ||v|| ||Bv||: B is not positive semi-definite
};

namespace multivector {
template <class Exec, class Scalar>
OrthonormalizeReport orthonormalize(Exec const& exec, BlockRef<Scalar> const& V,
                                    BlockRef<Scalar> const* BV, Workspace<Exec>& workspace);
template <class Exec, class Scalar>
void project_out(Exec const& exec, BlockRef<Scalar const> const& Q,
                 BlockRef<Scalar const> const& BQ, BlockRef<Scalar> const& V,
                 Workspace<Exec>& workspace);
}  // namespace multivector

/// V := orthonormal basis of the span of its columns, in its first `rank` columns; the others
/// become zero.
///
/// V: n x k of any layout, accessible to `exec`. Columns with an entry that is not finite, and zero
/// columns, are dropped; so are columns whose component orthogonal to the others is below 16 k u of
/// their own length (u = unit roundoff). Columns may differ in length by any power of two in the
/// range of the format. On return ||V^H V - I|| is a few u k, and the original columns lie in the
/// span of V to about 16 k u of their length. Fences `exec` in every pass; 2 passes if V is
/// well-conditioned, at most 10.
///
///   1. G = V^H V; if a squared length is out of range, columns are first scaled by powers of two,
///      and those not finite or zero are dropped
///   2. columns so short that they can only be rounding errors of the earlier passes are dropped
///   3. D = diag(G)^-1/2, D G D = L L^H, V := V D L^-H (Cholesky QR). If a pivot^2 is at most
///      tau = max(50 k, 500) u: D G D = U Lambda U^H, V := V D U Lambda^-1/2, largest eigenvalue
///      first, where eigenvalues below tau times the largest are replaced by that bound (SVQB).
///      Where an earlier pass used SVQB: Cholesky QR with pivots^2 below tau replaced by tau, which
///      leaves earlier columns unchanged
///   4. repeated from 1 until two passes are done and the last one was well-conditioned (every
///      pivot > 1/2)
///
/// Throws Error where memory is short.
///
/// Sources: Stathopoulos and Wu 2002, doi:10.1137/S1064827500370883 (SVQB); Yamamoto, Nakatsukasa,
/// Yanagisawa and Fukaya 2015, ETNA 44, 306-326 (why two passes suffice); Fukaya, Kannan,
/// Nakatsukasa, Yamamoto and Yanagisawa 2020, doi:10.1137/18M1218212 (bounding small eigenvalues
/// from below instead of failing, so that each pass gains half the digits).
template <class Exec, class View>
OrthonormalizeReport orthonormalize(Exec const& exec, View const& V,
                                    Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename View::value_type;
  return multivector::orthonormalize<Exec, Scalar>(exec, blocks::block_ref<Exec>(V), nullptr,
                                                   workspace);
}

/// The same in the inner product of a Hermitian positive definite B: V^H B V = I on return.
///
/// BV: n x k, B times V on entry; it gets the same combinations as V, and so is B times V on
/// return, up to rounding. A column with v^H B v <= 4 u b ||v||^2 counts as zero, where b is the
/// largest ||B v|| / ||v|| of the block. Throws Error if the shapes of V and BV differ, or where
/// memory is short.
template <class Exec, class View, class BView>
requires(Kokkos::is_view_v<BView>) OrthonormalizeReport
    orthonormalize(Exec const& exec, View const& V, BView const& BV,
                   Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename View::value_type;
  static_assert(std::is_same_v<typename BView::value_type, Scalar>,
                "V and BV have the same scalar");
  require(V.extent(0) == BV.extent(0) && V.extent(1) == BV.extent(1), "orthonormalize", "V is ",
          V.extent(0), " x ", V.extent(1), ", BV is ", BV.extent(0), " x ", BV.extent(1));
  auto const B_block = blocks::block_ref<Exec>(BV);
  return multivector::orthonormalize<Exec, Scalar>(exec, blocks::block_ref<Exec>(V), &B_block,
                                                   workspace);
}

/// V := V - Q (BQ^H V): removes from V its component in the span of Q, whose columns are
/// orthonormal in the inner product of B (BQ = Q if B = I). Call it twice for orthogonality to
/// working precision.
///
/// Q, BQ: n x q, V: n x k, of any layout, accessible to `exec`; V does not overlap them.
/// Asynchronous. Reads Q and BQ once, V twice, and writes V; 2 n q k multiplications and additions.
/// Throws Error if the shapes do not match, or where memory is short.
template <class Exec, class QView, class BQView, class VView>
void project_out(Exec const& exec, QView const& Q, BQView const& BQ, VView const& V,
                 Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename VView::value_type;
  static_assert(std::is_same_v<typename QView::non_const_value_type, Scalar> &&
                    std::is_same_v<typename BQView::non_const_value_type, Scalar>,
                "Q, BQ and V have the same scalar, and V is not const");
  require(Q.extent(0) == V.extent(0) && BQ.extent(0) == V.extent(0) && BQ.extent(1) == Q.extent(1),
          "project_out", "shapes clash: Q is ", Q.extent(0), " x ", Q.extent(1), ", BQ is ",
          BQ.extent(0), " x ", BQ.extent(1), ", V is ", V.extent(0), " x ", V.extent(1));
  multivector::project_out<Exec, Scalar>(exec, blocks::block_ref<Exec>(Q),
                                         blocks::block_ref<Exec>(BQ), blocks::block_ref<Exec>(V),
                                         workspace);
}

}  // namespace blockspan
