#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/spmm/op.hpp>
#include <blockspan/spmm/plan.hpp>
#include <blockspan/spmm/run/multiply.hpp>

namespace blockspan {

namespace products {

template <class Exec, class Matrix, class XView, class YView>
Product<multiplier_t<Matrix>, scalar_t<Matrix>> make_product(Op op,
                                                             multiplier_t<Matrix> const& alpha,
                                                             XView const& X,
                                                             multiplier_t<Matrix> const& beta,
                                                             YView const& Y) {
  static_assert(std::is_same_v<scalar_t<Matrix>, typename XView::non_const_value_type> &&
                    std::is_same_v<scalar_t<Matrix>, typename YView::value_type>,
                "A, X and Y must have the same scalar type, and Y must not be const");
  require_compiled_values<Exec, scalar_t<Matrix>, offset_t<Matrix>, ordinal_t<Matrix>>();
  return {op, alpha, block_ref<Exec>(X), beta, block_ref<Exec>(Y)};
}

}  // namespace products

/// Y = alpha op(A) X + beta Y on the instance `exec`.
///
/// A: m x k, any KokkosSparse::CrsMatrix `exec` can access; columns within a row may be unsorted
/// and may repeat (repeated entries add up); offsets int or std::size_t, other types and 64-bit
/// ordinals through <blockspan/spmm/header_only.hpp>. X, Y: rank-2 views with as many rows as op(A)
/// has columns and rows, the same number of columns (any, 0 too), any layouts and strides, each its
/// own. A may be a KokkosSparse::Experimental::BsrMatrix as well, of m and k scalar rows and
/// columns in full blocks: the rows of a block row are multiplied together (up to four of them),
/// without a search; its columns and the entries of a row are fewer than 2^31. Y is overwritten
/// and must not overlap X (ranges of columns of one block are fine). beta = 0 never reads Y: it may
/// hold anything. alpha = 0 reads neither A nor X. Else every element is alpha times its sum +
/// beta y by the rules of IEEE 754, by every kernel; the sum of a row without entries is 0, so that
/// it is NaN where alpha is NaN or infinite.
///
/// The product is queued on `exec` and not waited for; plan.hpp says what the plan may allocate on
/// a first call; transposed products of several panels wait, and allocate as much as Y has, where
/// alpha or beta is not finite. The sum of an element runs in a fixed order, whatever the number of
/// threads: same input, same backend, same bits. The error of an element is at most gamma (|alpha|
/// |A| |X| + |beta| |Y|), gamma = m u / (1 - m u), m = (nonzeros of the row) + 3, twice that for
/// complex.
///
/// A, X and Y of half or bfloat16 (support/registers/sixteen_bit.hpp; where the library has them:
/// CMake option Blockspan_STORAGE_SCALARS): alpha, beta and the sums are float, rounded once, at
/// the end (transposed products of several panels: once a panel). To that error comes u |y| of
/// their type, and half its smallest value; what is too large for the type is infinite. Products of
/// two such scalars are exact in float (bfloat16: short of its range), and a column has the same
/// bits in every block. Whole rows, or segments where the plan cuts rows; no BsrMatrix.
///
/// Throws Error, with all sizes, if shapes clash, if Y overlaps X, if the plan was made for another
/// pattern, if the variant it was asked to use does not support the input, or where memory for
/// scratch is short; Y is then as it was. Reads A once, each row of X as often as its column has
/// entries (or once, if a cache holds it).
template <class Exec, class Offset, class Ordinal, class Matrix, class XView, class YView>
void spmm(Exec const& exec, SpmmPlan<Exec, Offset, Ordinal> const& plan, Op op,
          std::type_identity_t<sparse::multiplier_t<Matrix>> const& alpha, Matrix const& A,
          XView const& X, std::type_identity_t<sparse::multiplier_t<Matrix>> const& beta,
          YView const& Y) {
  static_assert(std::is_same_v<Offset, sparse::offset_t<Matrix>> &&
                    std::is_same_v<Ordinal, sparse::ordinal_t<Matrix>>,
                "the plan must have the matrix's offset and ordinal types");
  auto const product = products::make_product<Exec, Matrix>(op, alpha, X, beta, Y);
  products::multiply(exec, plan.panels(), sparse::planned_matrix_ref<Exec>(A), product);
}

/// The same without a plan: whole rows, whatever their lengths. Offsets that are not int are
/// narrowed anew on every call, which allocates and waits for the instance. A transposed product
/// sorts the pattern anew on every call, allocates, and waits for the instance. A plan keeps the
/// transposed pattern and, with hold_transpose, the values in its order.
template <class Exec, class Matrix, class XView, class YView>
requires Kokkos::is_execution_space_v<Exec>
void spmm(Exec const& exec, Op op, std::type_identity_t<sparse::multiplier_t<Matrix>> const& alpha,
          Matrix const& A, XView const& X,
          std::type_identity_t<sparse::multiplier_t<Matrix>> const& beta, YView const& Y) {
  static_assert(!is_sixteen_bit_v<sparse::scalar_t<Matrix>>, "half and bfloat16 need a plan");
  products::multiply(exec, sparse::product_matrix_ref<Exec>(A),
                     products::make_product<Exec, Matrix>(op, alpha, X, beta, Y));
}

}  // namespace blockspan
