#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// packed(p, :) = X(rows[p], :), rows of `packed` side by side. Does not wait. Compiled once per
/// backend and scalar (pack_rows.cpp.in).
template <class Exec, class Scalar>
void pack_rows(Exec const& exec, BlockRef<Scalar const> const& X, int const* rows,
               std::int64_t count, Scalar* packed);

/// A row a task on hosts, an entry a task on devices.
template <class Scalar>
struct PackRows {
  struct ByRow {};
  struct ByEntry {};

  BlockRef<Scalar const> X;
  int const* rows;
  Scalar* packed;

  KOKKOS_FUNCTION void operator()(ByRow, std::int64_t p) const {
    for (std::int64_t j = 0; j < X.columns; ++j) packed[p * X.columns + j] = X(rows[p], j);
  }
  KOKKOS_FUNCTION void operator()(ByEntry, std::int64_t index) const {
    packed[index] = X(rows[index / X.columns], index % X.columns);
  }
};

}  // namespace blockspan::detail
