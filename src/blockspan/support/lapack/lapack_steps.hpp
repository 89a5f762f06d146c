#pragma once

#include <vector>

#include <blockspan/support/lapack/lapack.hpp>

// Large matrices, which take LAPACK seconds and minutes: the same methods by blocks of columns,
// with InterruptionCheck::step() after each of them. Arguments and results as in lapack.hpp.

namespace blockspan::lapack {

/// Order from which the functions of lapack.hpp go by steps: there they take tenths of a second.
constexpr int least_order_of_steps = 1000;

template <class Scalar>
int cholesky_by_steps(SmallMatrix<Scalar> const& G);

template <class Scalar>
void reduce_to_standard_by_steps(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& L);

/// By reduction to a tridiagonal matrix and its relatively robust representations. The entries are
/// not scaled: squares of them neither overflow nor vanish.
template <class Scalar>
int hermitian_eigen_lowest_by_steps(SmallMatrix<Scalar> const& G, int count,
                                    std::vector<real_t<Scalar>>& eigenvalues,
                                    SmallMatrix<Scalar> const& vectors);

}  // namespace blockspan::lapack
