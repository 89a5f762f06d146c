#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/workspace.hpp>

// Products of blocks with row weights and several terms, which solvers need and the public calls do
// not offer. Compiled with gram and combine.

namespace blockspan::multivector {

/// diag(weights) X C, with X: n x k, C: k x m where Exec computes; weights: n reals there, or
/// null for ones. Left: X as a kernel reads it.
template <class Scalar, class Left = BlockRef<Scalar const>>
struct RowTerm {
  Left X;
  BlockRef<Scalar const> C;
  real_t<Scalar> const* weights = nullptr;
};

/// Y = first + second in one pass, each entry one sum a term. X of either term may be Y (or have it
/// as its leading columns) for m <= 64 real columns. Asynchronous.
template <class Exec, class Scalar>
void combine_terms(Exec const& exec, RowTerm<Scalar> const& first, RowTerm<Scalar> const& second,
                   BlockRef<Scalar> const& Y, Workspace<Exec>& workspace);

/// G = X^H Y and H = X^H Z, in one pass where the device has a kernel for it. Everything else as
/// blockspan::gram, with results where Exec computes.
template <class Exec, class Scalar>
void gram_pair(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
               BlockRef<Scalar> const& G, BlockRef<Scalar const> const& Z,
               BlockRef<Scalar> const& H, Workspace<Exec>& workspace);

/// G = X^H diag(weights) X where Exec computes. Asynchronous; Hermitian up to rounding.
template <class Exec, class Scalar>
void weighted_gram(Exec const& exec, BlockRef<Scalar const> const& X, real_t<Scalar> const* weights,
                   BlockRef<Scalar> const& G, Workspace<Exec>& workspace);

}  // namespace blockspan::multivector
