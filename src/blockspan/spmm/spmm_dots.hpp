#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/run/dots.hpp>
#include <blockspan/spmm/spmm.hpp>

namespace blockspan {

namespace products {

/// A rank-1 output as a block of one row; nullptr: not wanted.
template <class Exec, class Scalar>
BlockRef<Scalar> dots_ref(std::nullptr_t) {
  return {nullptr, 1, 0, 0, 0};
}
template <class Exec, class Scalar, class View>
BlockRef<Scalar> dots_ref(View const& dots) {
  static_assert(View::rank() == 1 && std::is_same_v<typename View::value_type, Scalar>,
                "x_dot_y has rank 1 and the matrix's scalar, y_dot_y the real type beneath it");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "x_dot_y and y_dot_y must live where the execution space can access them");
  auto* const data = dots.extent(0) > 0 ? dots.data() : nullptr;
  return {data, 1, static_cast<std::int64_t>(dots.extent(0)), 0,
          static_cast<std::int64_t>(dots.stride(0))};
}

/// Row weights as the kernels read them.
template <class Exec, class Real, class View>
Real const* row_weights(View const& weights, std::int64_t rows) {
  static_assert(View::rank() == 1 && std::is_same_v<typename View::non_const_value_type, Real>,
                "weights have rank 1 and the real type beneath the scalar");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "weights must live where the execution space can access them");
  if (weights.extent(0) == 0) return nullptr;
  require(static_cast<std::int64_t>(weights.extent(0)) == rows && weights.stride(0) == 1,
          "blockspan::spmm_dots", "weights must be contiguous and have an entry for each row (",
          weights.extent(0), " with stride ", weights.stride(0), ", rows: ", rows, ")");
  return weights.data();
}
template <class Exec, class Real>
Real const* row_weights(std::nullptr_t, std::int64_t) {
  return nullptr;
}

}  // namespace products

/// Y = alpha A X + beta Y, and with the new Y, for every column j,
///   x_dot_y(j) = sum_i conj(X(i, j)) Y(i, j)   and   y_dot_y(j) = sum_i w_i |Y(i, j)|^2.
///
/// A, X, Y, plan, alpha and beta as for spmm without op; A is square. x_dot_y: n scalars, y_dot_y:
/// n real scalars (n: columns of X and Y), rank 1, where `exec` can access them (host memory on
/// host backends only); both are overwritten and overlap nothing else; y_dot_y may be nullptr or
/// empty where it is not wanted. weights: w, a real scalar for each row, contiguous; empty or left
/// out: ones. The sums are made inside the kernel that writes Y, while its elements are in
/// registers, which saves a pass over X and Y. Nothing is waited for, except where scratch grows.
///
/// Where there is no fused kernel, the product runs as spmm would and one pass over X and Y
/// follows, with the same results up to rounding: variants other than single_columns,
/// rows, segments, segments_sorted, nonempty_rows and groups; nonempty_rows with beta != 0 or an
/// alpha that is not finite; matrices with blocks or more than 2^31 entries, or whose rows the plan
/// has sorted; alpha = 0; more columns than the lanes of a warp cover at once (32 or 64; in vectors
/// 512 or 1024 bytes a row); all backends but CUDA (hosts gained nothing by it). The labels of its
/// kernels show which it is: "Blockspan::spmm::<id>::dots", or "Blockspan::spmm_dots::separate" for
/// the pass.
///
/// Fixed order of summation: same input, same backend, same bits; no atomics. The error of x_dot_y
/// against the exact sum with the Y that was stored is at most gamma_m sum_i |X(i, j)| |Y(i, j)|,
/// m = rows + 2, twice that for complex; of y_dot_y the same with w Y in place of X, m = rows + 3.
///
/// Throws Error as spmm does, and if A is not square, an output has not n entries or there is not a
/// weight for each row.
/// Reads what spmm reads and each row of X once more (usually from a cache), and writes 2 n partial
/// sums for every team of 8 to 512 rows, whose order of addition is that of gram; this is the
/// scratch it keeps. One H200, 7-point grid 100^3, double, 8 columns: 84 microseconds without sums,
/// 97 with both.
template <class Exec, class Offset, class Ordinal, class Matrix, class XView, class YView,
          class XDotYView, class YDotYView, class Weights = std::nullptr_t>
void spmm_dots(Exec const& exec, SpmmPlan<Exec, Offset, Ordinal> const& plan,
               std::type_identity_t<sparse::scalar_t<Matrix>> const& alpha, Matrix const& A,
               XView const& X, std::type_identity_t<sparse::scalar_t<Matrix>> const& beta,
               YView const& Y, XDotYView const& x_dot_y, YDotYView const& y_dot_y,
               Weights const& weights = nullptr) {
  using Scalar = sparse::scalar_t<Matrix>;
  static_assert(std::is_same_v<Offset, sparse::offset_t<Matrix>> &&
                    std::is_same_v<Ordinal, sparse::ordinal_t<Matrix>>,
                "the plan must have the matrix's offset and ordinal types");
  products::require_compiled_product<Exec, Scalar, Offset, Ordinal>();
  auto const matrix = sparse::planned_matrix_ref<Exec>(A);
  auto const rows = matrix.pattern.vector_rows();  // not numRows, which counts those of blocks
  products::multiply_dots(exec, plan.panels(), matrix,
                          products::make_product<Exec, Matrix>(Op::none, alpha, X, beta, Y),
                          products::row_weights<Exec, real_t<Scalar>>(weights, rows),
                          {products::dots_ref<Exec, Scalar>(x_dot_y),
                           products::dots_ref<Exec, real_t<Scalar>>(y_dot_y)});
}

}  // namespace blockspan
