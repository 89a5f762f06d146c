#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/linear_operator.hpp>

#include "support/blocks.hpp"

namespace blockspan::test {

/// Row-major blocks, as solvers hold them, with values.
template <class Scalar, class Exec>
Block<Scalar, Exec> block(Exec const& exec, HostBlock<Scalar> const& values) {
  Block<Scalar, Exec> const X("Blockspan::test", values.rows(), values.columns());
  auto const mirror = Kokkos::create_mirror_view(X);
  for (std::int64_t i = 0; i < values.rows(); ++i)
    for (std::int64_t j = 0; j < values.columns(); ++j) mirror(i, j) = values(i, j);
  Kokkos::deep_copy(exec, X, mirror);
  exec.fence("Blockspan::test");
  return X;
}

template <class Scalar, class Exec>
HostBlock<Scalar> values_of(Block<Scalar, Exec> const& X) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  HostBlock<Scalar> values(X.extent(0), X.extent(1));
  for (std::int64_t i = 0; i < values.rows(); ++i)
    for (std::int64_t j = 0; j < values.columns(); ++j) values(i, j) = mirror(i, j);
  return values;
}

/// Op x; the result is NaN where nothing is written.
template <class Scalar, class Exec>
HostBlock<Scalar> applied(Exec const& exec, LinearOperator<Scalar, Exec> const& op,
                          HostBlock<Scalar> const& x) {
  auto const X = block<Scalar>(exec, x);
  auto const Y =
      block<Scalar>(exec, HostBlock<Scalar>(x.rows(), x.columns(), not_a_number<Scalar>()));
  op.apply(exec, X, Y);
  exec.fence("Blockspan::test");
  return values_of<Scalar>(Y);
}

/// Op as a dense matrix.
template <class Scalar, class Exec>
HostBlock<Scalar> dense(Exec const& exec, LinearOperator<Scalar, Exec> const& op) {
  HostBlock<Scalar> identity(op.rows(), op.rows());
  for (std::int64_t i = 0; i < op.rows(); ++i) identity(i, i) = Scalar(1);
  return applied(exec, op, identity);
}

}  // namespace blockspan::test
