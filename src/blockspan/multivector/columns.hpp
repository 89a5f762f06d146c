#pragma once

#include <type_traits>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/combine.hpp>

// Operations on each column of a block: norms, dots, scaling, copies.

namespace blockspan {

namespace multivector {
template <class Exec, class Scalar>
void column_norms(Exec const& exec, BlockRef<Scalar const> const& X,
                  SmallRef<real_t<Scalar>> const& norms, Workspace<Exec>& workspace);
template <class Exec, class Scalar>
void column_dots(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
                 SmallRef<Scalar> const& dots, Workspace<Exec>& workspace);
enum class Factors { real, scalar };
template <Factors kind, class Scalar>
using factor_t = std::conditional_t<kind == Factors::real, real_t<Scalar>, Scalar>;
template <class Exec, class Scalar, Factors kind>
void scale_columns(Exec const& exec, SmallRef<factor_t<kind, Scalar> const> const& factors,
                   BlockRef<Scalar> const& X);
template <class Exec, class Scalar>
void copy_columns(Exec const& exec, BlockRef<Scalar const> const& X,
                  std::vector<int> const& columns, BlockRef<Scalar> const& Y);
}  // namespace multivector

/// norms(j) = ||x_j||_2.
///
/// X: n x k of any layout, accessible to `exec`; norms: k reals, rank 1, in memory of `exec` (no
/// fence) or of the host (complete on return, fences `exec`). The squares are summed without
/// scaling: the norm of a column is accurate if its entries are below 1e150 / sqrt(n) and its
/// dominant entries above 1e-150 (float: 1e18 / sqrt(n) and 1e-18); outside, the result is infinite
/// or zero. NaN gives NaN. Sums in the order of gram: the same bits for any number of threads.
/// Reads X once. Throws Error if the shapes do not match, or where memory is short.
template <class Exec, class XView, class NormsView>
void column_norms(Exec const& exec, XView const& X, NormsView const& norms,
                  Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename XView::non_const_value_type;
  static_assert(std::is_same_v<typename NormsView::value_type, real_t<Scalar>>,
                "norms are real numbers of the block's precision");
  require(norms.extent(0) == X.extent(1), "column_norms", "X is ", X.extent(0), " x ", X.extent(1),
          ", norms has ", norms.extent(0), " entries");
  multivector::column_norms<Exec, Scalar>(exec, blocks::block_ref<Exec>(X),
                                          blocks::small_ref<Exec>(norms), workspace);
}

/// dots(j) = x_j^H y_j, the diagonal of gram(X, Y) at the cost of reading X and Y once.
///
/// X, Y: n x k; dots: k scalars, rank 1; memory spaces, fences, order of summation and errors as
/// for column_norms.
template <class Exec, class XView, class YView, class DotsView>
void column_dots(Exec const& exec, XView const& X, YView const& Y, DotsView const& dots,
                 Workspace<Exec>& workspace = blocks::OwnWorkspace<Exec>()) {
  using Scalar = typename DotsView::value_type;
  static_assert(std::is_same_v<typename XView::non_const_value_type, Scalar> &&
                    std::is_same_v<typename YView::non_const_value_type, Scalar>,
                "X, Y and dots have the same scalar");
  require(X.extent(0) == Y.extent(0) && X.extent(1) == Y.extent(1) && dots.extent(0) == X.extent(1),
          "column_dots", "shapes clash: X is ", X.extent(0), " x ", X.extent(1), ", Y is ",
          Y.extent(0), " x ", Y.extent(1), ", dots has ", dots.extent(0), " entries");
  multivector::column_dots<Exec, Scalar>(exec, blocks::block_ref<Exec>(X),
                                         blocks::block_ref<Exec>(Y), blocks::small_ref<Exec>(dots),
                                         workspace);
}

/// x_j = factors(j) x_j.
///
/// X: n x k of any layout, accessible to `exec`; overwritten. factors: k values, rank 1, real or
/// the scalar of X, in memory of `exec` or of the host. Asynchronous; host factors may be changed
/// on return. Reads and writes X once. Throws Error if the shapes do not match.
template <class Exec, class FactorsView, class XView>
void scale_columns(Exec const& exec, FactorsView const& factors, XView const& X) {
  using Scalar = typename XView::value_type;
  using Factor = typename FactorsView::non_const_value_type;
  static_assert(std::is_same_v<Factor, Scalar> || std::is_same_v<Factor, real_t<Scalar>>,
                "factors are real numbers or scalars of the block's precision");
  require(factors.extent(0) == X.extent(1), "scale_columns", "X is ", X.extent(0), " x ",
          X.extent(1), ", there are ", factors.extent(0), " factors");
  constexpr auto kind = std::is_same_v<Factor, real_t<Scalar>> ? multivector::Factors::real
                                                               : multivector::Factors::scalar;
  multivector::scale_columns<Exec, Scalar, kind>(exec, blocks::small_ref<Exec>(factors),
                                                 blocks::block_ref<Exec>(X));
}

/// y_j = x_{columns[j]}: gathers chosen columns, which may repeat.
///
/// X: n x k, Y: n x columns.size(), of any layout, accessible to `exec`; Y is overwritten and does
/// not overlap X. Asynchronous; `columns` may be changed on return. Throws Error if the shapes do
/// not match or an index is outside [0, k).
template <class Exec, class XView, class YView>
void copy_columns(Exec const& exec, XView const& X, std::vector<int> const& columns,
                  YView const& Y) {
  using Scalar = typename YView::value_type;
  static_assert(std::is_same_v<typename XView::non_const_value_type, Scalar>,
                "X and Y have the same scalar, and Y is not const");
  require(X.extent(0) == Y.extent(0) && Y.extent(1) == columns.size(), "copy_columns",
          "shapes clash: X is ", X.extent(0), " x ", X.extent(1), ", Y is ", Y.extent(0), " x ",
          Y.extent(1), ", ", columns.size(), " columns are asked for");
  for (int const column : columns)
    require(column >= 0 && static_cast<std::size_t>(column) < X.extent(1), "copy_columns",
            "there is no column ", column, ": X is ", X.extent(0), " x ", X.extent(1));
  multivector::copy_columns<Exec, Scalar>(exec, blocks::block_ref<Exec>(X), columns,
                                          blocks::block_ref<Exec>(Y));
}

}  // namespace blockspan
