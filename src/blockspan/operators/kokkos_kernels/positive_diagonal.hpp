#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::operators {

/// Finds the first diagonal entry that is not positive and finite, or whose inverse is not.
template <class Scalar>
struct FirstNotPositive {
  using value_type = std::int64_t;
  Scalar const* diagonal;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    real_t<Scalar> const d = real_part(diagonal[i]), inverse = 1 / d;
    if (!(d > 0 && inverse > 0 && Kokkos::isfinite(inverse)) && i < first) first = i;
  }
  KOKKOS_FUNCTION void init(std::int64_t& first) const { first = rows; }
  KOKKOS_FUNCTION void join(std::int64_t& a, std::int64_t const& b) const { a = b < a ? b : a; }
};

/// Throws Error("where: the diagonal entry of row i `of` is not positive and finite"), i counted
/// from 1 as in files. Fences the instance.
template <class Exec, class Scalar>
void require_positive_diagonal(Exec const& exec, Scalar const* diagonal, std::int64_t rows,
                               char const* where, char const* of) {
  std::int64_t first = rows;
  Kokkos::parallel_reduce("Blockspan::positive_diagonal",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows),
                          FirstNotPositive<Scalar>{diagonal, rows}, first);
  require(first == rows, where, "the diagonal entry of row ", first + 1, of,
          " is not positive and finite");
}

}  // namespace blockspan::operators
