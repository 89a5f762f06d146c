#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::operators {

/// The mean of the row sums of A, the operator `product`, times those weights, one a row. One
/// product; waits for the instance.
template <class Scalar, class Exec, class Weights>
double mean_row_sum(Exec const& exec, LinearOperator<Scalar, Exec> const& product,
                    std::int64_t all_rows, Weights const& weights) {
  constexpr auto label = "Blockspan::operators::row_sums";
  auto const n = static_cast<std::size_t>(product.rows());
  using Vectors = Block<Scalar, Exec>;
  auto const ones = allocate<Vectors>(exec, label, n, 1),
             sums = allocate<Vectors>(exec, label, n, 1),
             weighted = allocate<Vectors>(exec, label, n, 1);
  Kokkos::deep_copy(exec, ones, Scalar(1));
  product.apply(exec, ones, sums);
  scale_rows<Exec, Scalar>(exec, weights.data(), blocks::block_ref<Exec>(sums),
                           blocks::block_ref<Exec>(weighted));
  Kokkos::View<Scalar*, Kokkos::HostSpace> const sum("Blockspan::operators::row_sum", 1);
  Workspace<Exec> workspace(product.row_space());
  column_dots(exec, ones, weighted, sum, workspace);
  return static_cast<double>(real_part(sum(0))) / static_cast<double>(all_rows);
}

}  // namespace blockspan::operators
