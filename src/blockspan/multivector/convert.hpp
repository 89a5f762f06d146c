#pragma once

#include <type_traits>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/entries.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

// Blocks in another precision or layout.

namespace blockspan {

namespace multivector {

template <class From, class To>
struct ConvertBlock {
  BlockRef<From const> X;
  BlockRef<To> Y;
  real_t<To> factor;
  using Operands = std::remove_const_t<From>;
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    return X(i, j);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j,
                                              Operands const& x) const {
    Y(i, j) = convert_scalar<To>(x) * factor;
  }
};

}  // namespace multivector

/// Y = factor X in another precision. Each part of an entry is rounded to nearest and then
/// multiplied: overflow gives infinity, underflow a subnormal value or zero, NaN stays NaN.
///
/// X, Y: n x k of any layout, accessible to `exec`; real to real, complex to complex or real to
/// complex. Y is overwritten and does not overlap X. Asynchronous. Reads X and writes Y once.
/// Throws Error if the shapes do not match.
template <class Exec, class XView, class YView>
void convert_block(Exec const& exec, XView const& X, YView const& Y,
                   real_t<typename YView::value_type> factor = 1) {
  using From = typename XView::non_const_value_type;
  using To = typename YView::value_type;
  static_assert(!std::is_const_v<To>, "Y is written");
  require(X.extent(0) == Y.extent(0) && X.extent(1) == Y.extent(1), "convert_block",
          "shapes clash: X is ", X.extent(0), " x ", X.extent(1), ", Y is ", Y.extent(0), " x ",
          Y.extent(1));
  auto const y = blocks::block_ref<Exec>(Y);
  blocks::for_each_entry(
      exec, "Blockspan::convert_block", y,
      multivector::ConvertBlock<From, To>{blocks::block_ref<Exec>(X), y, factor});
}

}  // namespace blockspan
