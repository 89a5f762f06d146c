#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::operators {

// Defined in chebyshev_impl.hpp, compiled once per backend and scalar (and offset).

/// Measures of the rows of W A for positive weights W.
template <class Scalar>
struct RowMeasures {
  /// The largest row sum of |W A|, rounded up; NaN if an entry is NaN.
  real_t<Scalar> largest_sum = 0;
  /// The first row whose diagonal entry is negative, or zero in a row with other entries: proof
  /// that a Hermitian A is indefinite. -1: none.
  std::int64_t indefinite_row = -1;

  /// Combines the measures of two sets of rows.
  KOKKOS_FUNCTION void join(RowMeasures const& others) {
    if (others.largest_sum > largest_sum || others.largest_sum != others.largest_sum)
      largest_sum = others.largest_sum;
    std::int64_t const row = others.indefinite_row;
    if (row >= 0 && (indefinite_row < 0 || row < indefinite_row)) indefinite_row = row;
  }
};

/// Fences the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
RowMeasures<Scalar> measure_rows(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                                 real_t<Scalar> const* weights);

/// The step of a polynomial in a separate kernel, for a computed AZ; rows are contiguous. AZ.data
/// null: there is no Z yet, Y := factor W R. If !step.add_z, AZ is Y itself. Asynchronous.
template <class Exec, class Scalar>
void pass_of_step(Exec const& exec, ProductStep<Scalar> const& step,
                  BlockRef<Scalar const> const& AZ, BlockRef<Scalar> const& Y);

/// The step, in the kernel of the product if A has one, else with A Z in image(), a block like Y
/// (not called if !step.add_z).
template <class Exec, class Scalar, class Image>
void take_step(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
               OperatorStep<Scalar, Exec> const& step, ConstBlock<Scalar, Exec> const& Z,
               Block<Scalar, Exec> const& Y, Image const& image) {
  if (A.apply_step(exec, Z, step, Y)) return;
  Block<Scalar, Exec> const AZ = step.add_z ? image() : Y;
  A.apply(exec, Z, AZ);
  pass_of_step<Exec, Scalar>(exec,
                             {step.add_z, step.add_y, step.momentum, step.factor,
                              step.weights.data(), block_ref<Exec>(step.R), block_ref<Exec>(Z)},
                             block_ref<Exec>(AZ), block_ref<Exec>(Y));
}

}  // namespace blockspan::operators
