#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/blocks/workspace.hpp>

// Linear combinations of the columns of a block.

namespace blockspan {

namespace multivector {
template <class Exec, class Scalar>
void combine(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& X,
             SmallRef<Scalar const> const& C, Scalar beta, BlockRef<Scalar> const& Y,
             Workspace<Exec>& workspace);
template <class Exec, class Scalar>
void combine_in_place(Exec const& exec, BlockRef<Scalar> const& X, SmallRef<Scalar const> const& C,
                      Workspace<Exec>& workspace);
}  // namespace multivector

/// Y = alpha X C + beta Y: linear combinations of the columns of X.
///
/// X: n x k, C: k x m, Y: n x m, of any layout; X and Y accessible to `exec`, C too or on the host.
/// Y must not overlap X (see combine_in_place). beta = 0 never reads Y; alpha = 0 does not suppress
/// NaN in X. The coefficients are alpha * C, rounded. Asynchronous; a C in memory that only the
/// host can access is copied first and may be changed on return, and the call may wait for earlier
/// work of `exec`.
///
/// Each entry is one sum over the columns of X, in a fixed order that depends on layout and device:
/// the same bits for any number of threads; its error is at most gamma_{k+2} (|alpha| |X| |C| +
/// |beta| |Y|). Reads X once on hosts, and on devices for m <= 64 (32 complex) columns; n k m
/// multiplications and additions. Tensor cores as for gram. Throws Error if the shapes do not
/// match, or where memory is short.
template <class Exec, class XView, class CView, class YView>
void combine(Exec const& exec, typename YView::non_const_value_type alpha, XView const& X,
             CView const& C, typename YView::non_const_value_type beta, YView const& Y,
             Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename YView::value_type;
  static_assert(std::is_same_v<typename XView::non_const_value_type, Scalar> &&
                    std::is_same_v<typename CView::non_const_value_type, Scalar>,
                "X, C and Y have the same scalar, and Y is not const");
  require(X.extent(0) == Y.extent(0) && C.extent(0) == X.extent(1) && C.extent(1) == Y.extent(1),
          "combine", "shapes clash: X is ", X.extent(0), " x ", X.extent(1), ", C is ", C.extent(0),
          " x ", C.extent(1), ", Y is ", Y.extent(0), " x ", Y.extent(1));
  multivector::combine<Exec, Scalar>(exec, alpha, blocks::block_ref<Exec>(X),
                                     blocks::small_ref<Exec>(C), beta, blocks::block_ref<Exec>(Y),
                                     workspace);
}

/// X(:, 0:m) = X C for C: k x m with m <= k, X: n x k; the remaining columns of X are unchanged.
/// One pass, row by row. Otherwise as combine. Memory beyond C only on devices for m > 64 (32
/// complex): at most 16 MiB.
template <class Exec, class XView, class CView>
void combine_in_place(Exec const& exec, XView const& X, CView const& C,
                      Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename XView::value_type;
  static_assert(std::is_same_v<typename CView::non_const_value_type, Scalar>,
                "X and C have the same scalar, and X is not const");
  require(C.extent(0) == X.extent(1) && C.extent(1) <= C.extent(0), "combine_in_place",
          "shapes clash: X is ", X.extent(0), " x ", X.extent(1), ", C is ", C.extent(0), " x ",
          C.extent(1));
  multivector::combine_in_place<Exec, Scalar>(exec, blocks::block_ref<Exec>(X),
                                              blocks::small_ref<Exec>(C), workspace);
}

}  // namespace blockspan
