#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/blocks/workspace.hpp>

namespace blockspan {

namespace multivector {
template <class Exec, class Scalar>
void gram(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
          SmallRef<Scalar> const& G, Workspace<Exec>& workspace);
}  // namespace multivector

/// G = X^H Y: all inner products of the columns of two blocks.
///
/// X: n x k1, Y: n x k2, G: k1 x k2, of any layout; X and Y accessible to `exec`; they may be the
/// same. G is overwritten (with zeros if n = 0) and overlaps neither. G in memory that only `exec`
/// can access: asynchronous, no fence. G in memory of the host: complete on return, fences `exec`.
/// If X and Y are the same, G is exactly Hermitian.
///
/// Rows are summed in chunks of a power of two of rows, at most 2048, which depends on n and the
/// backend only; the chunks are joined by one binary tree: the same bits for any number of threads.
/// The error of an entry is at most gamma_m |x_i|^T |y_j|, m = min(n, 2048) + log2(n) + 2. Reads
/// both blocks once for k1, k2 <= 64 (32 complex) columns; n k1 k2 multiplications and additions.
/// On Ampere and Hopper, blocks of (complex) doubles whose rows are contiguous and begin at
/// multiples of 16 bytes (as with an even number of columns) use tensor cores, in double precision.
/// Throws Error if the shapes do not match, or where memory is short.
template <class Exec, class XView, class YView, class GView>
void gram(Exec const& exec, XView const& X, YView const& Y, GView const& G,
          Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename GView::non_const_value_type;
  static_assert(std::is_same_v<typename XView::non_const_value_type, Scalar> &&
                    std::is_same_v<typename YView::non_const_value_type, Scalar>,
                "X, Y and G have the same scalar");
  require(X.extent(0) == Y.extent(0), "gram", "rows differ: X is ", X.extent(0), " x ", X.extent(1),
          ", Y is ", Y.extent(0), " x ", Y.extent(1));
  require(G.extent(0) == X.extent(1) && G.extent(1) == Y.extent(1), "gram", "G is ", G.extent(0),
          " x ", G.extent(1), " but the blocks have ", X.extent(1), " and ", Y.extent(1),
          " columns");
  multivector::gram<Exec, Scalar>(exec, blocks::block_ref<Exec>(X), blocks::block_ref<Exec>(Y),
                                  blocks::small_ref<Exec>(G), workspace);
}

}  // namespace blockspan
