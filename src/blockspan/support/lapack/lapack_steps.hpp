#pragma once

#include <vector>

#include <blockspan/support/lapack/lapack.hpp>

// For large matrices, which keep LAPACK busy for seconds and minutes: the same methods by blocks of
// columns, with InterruptionCheck::step() after each. Arguments and results as in lapack.hpp.

namespace blockspan::lapack {

/// Order from which the functions of lapack.hpp proceed by steps: calls take tenths of a second
/// there.
constexpr int least_order_of_steps = 1000;

template <class Scalar>
int cholesky_by_steps(SmallMatrix<Scalar> const& G);

template <class Scalar>
void reduce_to_standard_by_steps(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& L);

/// By reduction to a tridiagonal matrix and its relatively robust representations. The entries are
/// not scaled: their squares must neither overflow nor underflow.
template <class Scalar>
int hermitian_eigen_lowest_by_steps(SmallMatrix<Scalar> const& G, int count,
                                    std::vector<real_t<Scalar>>& eigenvalues,
                                    SmallMatrix<Scalar> const& vectors);

}  // namespace blockspan::lapack
