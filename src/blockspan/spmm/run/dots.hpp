#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/run/multiply.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {
template <class Exec>
class Workspace;
}  // namespace blockspan

namespace blockspan::products {

/// Where the two sums of every column go: blocks of one row.
template <class Scalar>
struct DotOutputs {
  BlockRef<Scalar> x_dot_y;
  BlockRef<real_t<Scalar>> y_dot_y;  ///< data null: not wanted

  KOKKOS_FORCEINLINE_FUNCTION bool squares() const { return y_dot_y.data != nullptr; }
};

// Checked, dispatched and launched in the library; defined in dots_impl.hpp, compiled once per
// backend and scalar.

template <class Exec, class Scalar, class Ordinal>
void multiply_dots(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                   MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product,
                   real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots);

/// Some rows of a product: those of A, which are rows `first`, first + 1, ... of Y.
template <class Exec, class Scalar, class Ordinal>
struct PartOfRows {
  PlanPanels<Exec, Ordinal>* plan;
  MatrixRef<Scalar, void, Ordinal> A;
  std::int64_t first;
  BlockRef<Scalar const> X;  ///< what A is multiplied with
};
/// Calls its argument once for each part, with an instance for the product of that part; work
/// enqueued later on the instance of the whole runs after all of them.
template <class Exec>
using OrderOfParts =
    std::function<void(std::function<void(Exec const&, int part)> const& multiply)>;

/// The product by parts, which together have all rows of Y in their order, and the sums of the rows
/// of X and Y in `rows`, over the ranks of the workspace. Waits only for sums staged through the
/// host and where memory grows.
template <class Exec, class Scalar, class Ordinal>
void multiply_dots(Exec const& exec, std::span<PartOfRows<Exec, Scalar, Ordinal> const> parts,
                   OrderOfParts<Exec> const& run, Product<Scalar> const& rows,
                   real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots,
                   Workspace<Exec>& workspace);

}  // namespace blockspan::products
