#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Y := Z + momentum (Z - Y) + factor W (R - A X), the recurrence of a polynomial in W A: A's
/// columns are rows of X, its rows those of Z, R and Y. X is Z where A is the whole of a square
/// matrix.
template <class Scalar>
struct ProductStep {
  bool add_z;               ///< the sum has Z; else 0 in its place: Y := factor W (R - A X)
  bool add_y;               ///< the sum has Y; else 0 in its place, and it is not read
  real_t<Scalar> momentum;  ///< 0 where !add_z
  real_t<Scalar> factor;
  real_t<Scalar> const* weights;  ///< W, one a row; null: ones
  BlockRef<Scalar const> R, Z;
};

/// Contiguous real values of a step, their terms in the order in which every kernel rounds them:
/// two fused multiply-adds, where the processor has them. `az` is of A X, and may be y where
/// !add_z; z and y are read where `add_z` and `add_y` say so.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void step_row(bool add_z, bool add_y, Real momentum, Real factor,
                                          Real const* KOKKOS_RESTRICT r, Real const* az,
                                          Real const* KOKKOS_RESTRICT z, Real* y,
                                          std::int64_t count) {
  if (!add_z) {
    for (std::int64_t j = 0; j < count; ++j) y[j] = multiply_add(factor, r[j] - az[j], 0);
    return;
  }
  Real const* KOKKOS_RESTRICT const image = az;
  Real* KOKKOS_RESTRICT const to = y;
  if (!add_y)
    for (std::int64_t j = 0; j < count; ++j)
      to[j] = multiply_add(factor, r[j] - image[j], multiply_add(momentum, z[j], z[j]));
  else
    for (std::int64_t j = 0; j < count; ++j)
      to[j] = multiply_add(factor, r[j] - image[j], multiply_add(momentum, z[j] - to[j], z[j]));
}

/// The step in the kernel of the product with A, which then reads X, R and Y and writes Y: four
/// passes over a block where a product and a pass of its own make seven. False, and nothing is
/// done, where there is no such kernel: blocks whose rows are not contiguous, matrices of blocks or
/// in several panels, staged tiles, kernels that skip empty rows or belong to another library; on
/// hosts also groups of rows and rows that are cut. Y overlaps neither X, Z nor R. Defined in
/// step_impl.hpp, compiled once per backend and scalar.
template <class Exec, class Scalar, class Ordinal>
bool multiply_with_step(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                        MatrixRef<Scalar, void, Ordinal> const& A, BlockRef<Scalar const> const& X,
                        ProductStep<Scalar> const& step, BlockRef<Scalar> const& Y);
/// Whether there is such a kernel.
template <class Exec, class Scalar, class Ordinal>
bool fuses_step(PlanPanels<Exec, Ordinal> const& plan, BlockRef<Scalar const> const& X,
                ProductStep<Scalar> const& step, BlockRef<Scalar> const& Y);

}  // namespace blockspan::products
