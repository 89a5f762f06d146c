#pragma once

#include <cstdint>

#include <blockspan/blocks/block.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

/// Throws Error("where: ...") unless X and Y are both n x k.
template <class Scalar>
void require_blocks(char const* where, std::int64_t n, BlockRef<Scalar const> const& X,
                    BlockRef<Scalar> const& Y) {
  require(X.rows == n && Y.rows == n && X.columns == Y.columns, where, "X and Y must be ", n,
          " x k (X: ", X.rows, " x ", X.columns, "; Y: ", Y.rows, " x ", Y.columns, ")");
}

}  // namespace blockspan::operators
