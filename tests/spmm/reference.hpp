#pragma once

#include <blockspan/spmm/op.hpp>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"

namespace blockspan::test {

/// alpha op(A) X + beta Y in extended precision, with the bound of theory: an element's error is at
/// most gamma_m (|alpha| |A| |X| + |beta| |Y|), m = entries of its row + 3 (Higham 2002, section
/// 3.1). With beta = 0, Y is not looked at; with alpha = 0, X is not.
template <class Scalar>
Reference<Scalar> reference_product(Op op, Scalar alpha, HostMatrix<Scalar> const& A,
                                    HostBlock<Scalar> const& X, Scalar beta,
                                    HostBlock<Scalar> const& Y);

/// sum_i conj(x_i) y_i down each column, with the bound of theory.
template <class Scalar>
Reference<Scalar> reference_dots(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y);

}  // namespace blockspan::test
