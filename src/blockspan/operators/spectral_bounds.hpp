#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/arena.hpp>

namespace blockspan {

/// Estimates of both ends of a spectrum by a few Lanczos steps.
template <class Real>
struct SpectrumEstimate {
  Real smallest = 0;   ///< not below the smallest eigenvalue, up to rounding
  Real largest = 0;    ///< not above the largest eigenvalue, up to rounding
  Real residual = 0;   ///< there is an eigenvalue within `residual` of `largest`
  int steps = 0;       ///< performed: fewer than requested where the subspace was invariant
  bool finite = true;  ///< false: the operator returned NaN or Inf, and the rest is meaningless
};

namespace operators {
/// estimate_spectrum() with memory from the arena.
template <class Scalar, class Exec>
SpectrumEstimate<real_t<Scalar>> estimate_spectrum(
    Exec const& exec, Arena<Exec>& arena, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, int steps,
    std::uint64_t seed);
}  // namespace operators

/// Ritz values of W^1/2 A W^1/2, which has the eigenvalues of W A, for a Hermitian operator A of
/// order n and positive W = diag(weights): with the factors of the Jacobi preconditioner, W =
/// |D|^-1, the result does not depend on the units of A; with ones it is for A itself. A Ritz value
/// below zero by more than rounding errors proves A indefinite; largest + residual is nearly always
/// an upper bound of the spectrum, but, with a random start, not a proven one.
///
/// The start is random (seed). Every vector is orthogonalized against the previous two only: within
/// a few steps the loss of orthogonality is irrelevant for a bound. Equal runs give the same bits.
/// `steps` products with A, one column each; memory for five columns, freed on return; fences the
/// instance once, at the end. Throws Error if the number of weights is not n, if steps < 1, or
/// where memory is short.
///
/// Source: Lanczos 1950, doi:10.6028/jres.045.026; the bound: Zhou and Li 2011,
/// doi:10.1016/j.laa.2010.06.034.
template <class Scalar, class Exec>
SpectrumEstimate<real_t<Scalar>> estimate_spectrum(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, int steps = 12,
    std::uint64_t seed = 1);

}  // namespace blockspan
