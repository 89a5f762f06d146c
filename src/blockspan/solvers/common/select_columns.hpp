#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// to(:, j) = factors[j] from(:, columns[j]); one row a thread on the host, one entry on a device.
template <class Scalar, class Exec>
struct SelectScaled {
  using Real = real_t<Scalar>;
  struct ByRow {};
  struct ByEntry {};

  BlockRef<Scalar const> from;
  BlockRef<Scalar> to;
  Real const* numbers;  ///< factors, then column indices (exact as reals)

  KOKKOS_FORCEINLINE_FUNCTION void entry(std::int64_t i, std::int64_t j) const {
    to(i, j) = numbers[j] * from(i, static_cast<std::int64_t>(numbers[to.columns + j]));
  }
  KOKKOS_FUNCTION void operator()(ByRow, std::int64_t i) const {
    for (std::int64_t j = 0; j < to.columns; ++j) entry(i, j);
  }
  KOKKOS_FUNCTION void operator()(ByEntry, std::int64_t index) const {
    entry(index / to.columns, index % to.columns);
  }

  void launch(Exec const& exec) const {
    constexpr bool on_host = runs_on_host_v<Exec>;
    using Tag = std::conditional_t<on_host, ByRow, ByEntry>;
    Kokkos::parallel_for("Blockspan::solvers::select",
                         Kokkos::RangePolicy<Exec, Tag, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, on_host ? to.rows : to.rows * to.columns),
                         *this);
  }
};

}  // namespace blockspan::detail
