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

/// Y(rows[p], :) += packed(p, :); no row is named twice. Does not wait. Compiled as pack_rows is.
template <class Exec, class Scalar>
void add_rows(Exec const& exec, Scalar const* packed, int const* rows, std::int64_t count,
              BlockRef<Scalar> const& Y);

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

/// The same tasks the other way.
template <class Scalar>
struct AddRows {
  using ByRow = typename PackRows<Scalar>::ByRow;
  using ByEntry = typename PackRows<Scalar>::ByEntry;

  Scalar const* packed;
  int const* rows;
  BlockRef<Scalar> Y;

  KOKKOS_FUNCTION void operator()(ByRow, std::int64_t p) const {
    for (std::int64_t j = 0; j < Y.columns; ++j) Y(rows[p], j) += packed[p * Y.columns + j];
  }
  KOKKOS_FUNCTION void operator()(ByEntry, std::int64_t index) const {
    Y(rows[index / Y.columns], index % Y.columns) += packed[index];
  }
};

}  // namespace blockspan::detail
