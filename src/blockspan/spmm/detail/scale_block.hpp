#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// Y = beta Y, and Y = 0 without reading it where beta is zero: a product with alpha = 0.
template <class Scalar>
struct ScaleBlock {
  Scalar beta;
  bool overwrite;
  bool by_rows;  ///< neighbouring work items are neighbours in a row
  BlockRef<Scalar> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const i = by_rows ? item / Y.columns : item % Y.rows;
    std::int64_t const j = by_rows ? item % Y.columns : item / Y.rows;
    Y(i, j) = overwrite ? Scalar(0) : beta * Y(i, j);
  }
};

template <class Exec, class Scalar>
void scale_block(Exec const& exec, Scalar const& beta, BlockRef<Scalar> const& Y) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (beta == Scalar(1)) return;
  Kokkos::parallel_for(
      "Blockspan::spmm::scale", Policy(exec, 0, Y.rows * Y.columns),
      ScaleBlock<Scalar>{beta, beta == Scalar(0), Y.row_stride >= Y.column_stride, Y});
}

}  // namespace blockspan::detail
