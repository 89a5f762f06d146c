#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/compiled.hpp>

namespace blockspan {

/// Which factor of a sampled product is conjugated. Real scalars: no difference.
enum class Conjugated { none, first, second };

namespace products {

/// The operands of values_k = alpha sum_j X(i_k, j) Y(j_k, j) + beta values_k.
/// Storage: their type in memory.
template <class Scalar, class Storage = Scalar>
struct SampledProduct {
  Conjugated conjugated;
  Scalar alpha;
  BlockRef<Storage const> X;
  BlockRef<Storage const> Y;
  Scalar beta;
  BlockRef<Storage> values;  ///< one row
};

/// Checked and launched in the library; defined in kernels/sampled.hpp, compiled once per backend,
/// scalar and offset type.
template <class Exec, class Scalar, class Storage, class Offset, class Ordinal>
void sample(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
            SampledProduct<Scalar, Storage> const& product);

}  // namespace products

/// The product of two tall blocks at the entries of a sparse matrix (sampled dense-dense product):
/// for the k-th stored entry, in row i_k and column j_k,
///   values(k) = alpha sum_j X(i_k, j) Y(j_k, j) + beta values(k),
/// X or Y conjugated as asked. It is the gradient of a sparse product with respect to the values of
/// the matrix: of Y = A X, with G the gradient of Y, conjugated = second of G and X.
///
/// A: m x n, any KokkosSparse::CrsMatrix that `exec` can access; only its pattern is read, in which
/// columns may be unsorted and repeat (each entry gets the whole sum). X: m x k, Y: n x k, rank-2
/// views, any layouts and strides, any k (0 too). values: rank 1, one for each entry, any stride;
/// overwritten (A.values may be meant); must not overlap X or Y. beta = 0 never reads values,
/// alpha = 0 neither X nor Y.
///
/// Queued on `exec` and not waited for; allocates nothing. A sum runs in an order that k, the
/// backend and, on hosts, the width of registers fix: same input, same backend, same bits. The
/// error of a value is at most gamma (|alpha| |X| |Y|^T + |beta| |values|) there, gamma = m u / (1
/// - m u), m = k + 3, twice that for complex.
///
/// X, Y and values of half or bfloat16: alpha and beta are float, and so are the sums, which are
/// rounded once. To that error comes u |result| of their type, and half its smallest value.
///
/// Throws Error, with all sizes, if shapes clash or values overlap X or Y; values are then as they
/// were. Reads a row of X once for neighbouring entries of its row, a row of Y for each entry of
/// its column (or once, if a cache holds it): O(entries k). Teams own equal counts of entries and
/// find their rows by bisection, so lengths of rows do not matter. Hosts copy rows of Y that are
/// not contiguous when they are used: row-major is faster. Cf. Hong et al. 2019, PPoPP,
/// doi:10.1145/3293883.3295712.
template <class Exec, class Matrix, class XView, class YView, class ValuesView>
void sddmm(Exec const& exec, Conjugated conjugated,
           std::type_identity_t<sparse::multiplier_t<Matrix>> const& alpha, Matrix const& A,
           XView const& X, YView const& Y,
           std::type_identity_t<sparse::multiplier_t<Matrix>> const& beta,
           ValuesView const& values) {
  using Storage = sparse::scalar_t<Matrix>;
  static_assert(std::is_same_v<Storage, typename XView::non_const_value_type> &&
                    std::is_same_v<Storage, typename YView::non_const_value_type> &&
                    std::is_same_v<Storage, typename ValuesView::value_type>,
                "A, X, Y and values must have the same scalar type, and values must not be const");
  static_assert(ValuesView::rank() == 1 &&
                    Kokkos::SpaceAccessibility<Exec, typename ValuesView::memory_space>::accessible,
                "values have rank 1 and live where the execution space can access them");
  products::require_compiled_values<Exec, Storage, sparse::offset_t<Matrix>,
                                    sparse::ordinal_t<Matrix>>();
  products::sample(exec, sparse::pattern_ref<Exec>(A),
                   products::SampledProduct<sparse::multiplier_t<Matrix>, Storage>{
                       conjugated,
                       alpha,
                       blocks::block_ref<Exec>(X),
                       blocks::block_ref<Exec>(Y),
                       beta,
                       {values.data(), 1, static_cast<std::int64_t>(values.extent(0)), 0,
                        static_cast<std::int64_t>(values.stride(0))}});
}

}  // namespace blockspan
