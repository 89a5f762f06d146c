#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/scratch_pool.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// Copies a block of any strides into a row-major one, some rows at a time: both stay in the cache.
template <class Scalar>
struct PackBlock {
  BlockRef<Scalar const> from;
  BlockRef<Scalar> to;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const first = item * tuning::host_packed_rows;
    std::int64_t const last =
        first + tuning::host_packed_rows < to.rows ? first + tuning::host_packed_rows : to.rows;
    for (std::int64_t j = 0; j < to.columns; ++j)
      for (std::int64_t i = first; i < last; ++i) to(i, j) = from(i, j);
  }
};

/// A row-major block in the pool's memory: valid until the next call with the same pool and
/// instance.
template <class Scalar, class Exec>
BlockRef<Scalar> row_major_scratch(Exec const& exec, ScratchPool<Exec>& pool, std::int64_t rows,
                                   std::int64_t columns) {
  auto const size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return {static_cast<Scalar*>(pool.reserve(exec, std::max<std::size_t>(size, 1) * sizeof(Scalar))),
          rows, columns, columns, 1};
}

/// X, row-major, in the pool's memory: valid until the next call with the same pool and instance.
template <class Exec, class Scalar>
BlockRef<Scalar const> packed_block(Exec const& exec, ScratchPool<Exec>& pool,
                                    BlockRef<Scalar const> const& X, std::string const& label) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  auto const packed = row_major_scratch<Scalar>(exec, pool, X.rows, X.columns);
  Kokkos::parallel_for(label, Policy(exec, 0, ceil_div(X.rows, tuning::host_packed_rows)),
                       PackBlock<Scalar>{X, packed});
  return packed;
}

}  // namespace blockspan::detail
