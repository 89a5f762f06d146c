#pragma once

#include <string>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

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

/// Label of the kernel that sums the products: the fused one, or the separate pass.
template <class Exec, class Scalar, class Ordinal>
std::string dots_kernel(PlanPanels<Exec, Ordinal> const& plan, Product<Scalar> const& product);

}  // namespace blockspan::detail
