#pragma once

#include <type_traits>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/entries.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace multivector {

template <class Scalar, class Order>
struct PermuteRows {
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  Order order;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    Y(i, j) = X(order(i), j);
  }
};

}  // namespace multivector

/// Y(i, :) = X(order(i), :), for vectors of a reordered matrix (see sparse/reorder.hpp).
///
/// X, Y: n x k of any layout, accessible to `exec`; order: n row indices, rank 1, in memory of
/// `exec`, each in [0, n) (not checked). Y is overwritten and must not overlap X. Asynchronous.
/// Reads X and writes Y once. Throws Error if the shapes do not match.
template <class Exec, class OrderView, class XView, class YView>
void permute_rows(Exec const& exec, OrderView const& order, XView const& X, YView const& Y) {
  using Scalar = typename YView::value_type;
  static_assert(!std::is_const_v<Scalar>, "Y is written");
  require(
      X.extent(0) == Y.extent(0) && X.extent(1) == Y.extent(1) && order.extent(0) == X.extent(0),
      "permute_rows", "shapes clash: X is ", X.extent(0), " x ", X.extent(1), ", Y is ",
      Y.extent(0), " x ", Y.extent(1), ", order has ", order.extent(0), " entries");
  auto const y = blocks::block_ref<Exec>(Y);
  blocks::for_each_entry(
      exec, "Blockspan::permute_rows", y,
      multivector::PermuteRows<Scalar, OrderView>{blocks::block_ref<Exec>(X), y, order});
}

}  // namespace blockspan
