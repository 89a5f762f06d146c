#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/workspace.hpp>

// Products of blocks with row weights or two terms, for solvers; not part of the public functions.
// Compiled with gram and combine.

namespace blockspan::multivector {

/// diag(weights) X C, with X: n x k, C: k x m in memory of Exec; weights: n reals there, or null
/// for ones. Left: the type through which a kernel reads X.
template <class Scalar, class Left = BlockRef<Scalar const>>
struct RowTerm {
  Left X;
  BlockRef<Scalar const> C;
  real_t<Scalar> const* weights = nullptr;
};

/// Y = first + second in one pass; each entry is the sum of one dot product per term. X of either
/// term may be Y (or have it as its leading columns) for m <= 64 real columns. Asynchronous.
template <class Exec, class Scalar>
void combine_terms(Exec const& exec, RowTerm<Scalar> const& first, RowTerm<Scalar> const& second,
                   BlockRef<Scalar> const& Y, Workspace<Exec>& workspace);

/// G = X^H Y and H = X^H Z, in one pass where the device has a kernel for it. Otherwise as
/// blockspan::gram, with results in memory of Exec.
template <class Exec, class Scalar>
void gram_pair(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
               BlockRef<Scalar> const& G, BlockRef<Scalar const> const& Z,
               BlockRef<Scalar> const& H, Workspace<Exec>& workspace);

/// G = X^H diag(weights) X in memory of Exec. Asynchronous; Hermitian up to rounding.
template <class Exec, class Scalar>
void weighted_gram(Exec const& exec, BlockRef<Scalar const> const& X, real_t<Scalar> const* weights,
                   BlockRef<Scalar> const& G, Workspace<Exec>& workspace);

}  // namespace blockspan::multivector
