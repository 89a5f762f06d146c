#pragma once

#include <vector>

#include "peers/contender.hpp"

namespace blockspan::perf {

/// Eigen's product of a row-major sparse matrix with a dense one of either order, on hosts, in
/// builds that found Eigen (it uses OpenMP where the build does); none elsewhere. There is no
/// setup: Eigen multiplies the arrays where they lie. Compiled for float, double and
/// Kokkos::complex of both.
template <class Scalar>
std::vector<Contender> eigen_contenders(Operands<Scalar> const& with);

}  // namespace blockspan::perf
