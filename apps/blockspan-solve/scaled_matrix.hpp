#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

namespace blockspan::apps {

/// A matrix in the middle of the range, and what it was multiplied by.
template <class Scalar, class Exec>
struct ScaledMatrix {
  CrsMatrix<Scalar, Exec> matrix;
  int exponent = 0;  ///< matrix = 2^exponent A
};

/// A itself, or a copy scaled by a power of two where squares of its entries would leave the range
/// of the format. Waits for the instance.
template <class Scalar, class Exec>
ScaledMatrix<Scalar, Exec> into_range(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  using Real = real_t<Scalar>;
  constexpr int range = std::numeric_limits<Real>::max_exponent - 24;
  Real const norm = blockspan::operators::max_row_sum(exec, blockspan::sparse::matrix_ref<Exec>(A));
  if (norm == 0 || std::isnan(norm)) return {A, 0};
  int const exponent = std::isinf(norm) ? range : std::clamp(std::ilogb(norm), -range, range);
  if (std::abs(exponent) < range / 2) return {A, 0};
  return {convert_values<Scalar>(exec, A, std::ldexp(Real(1), -exponent)), -exponent};
}

}  // namespace blockspan::apps
