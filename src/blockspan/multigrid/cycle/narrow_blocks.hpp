#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::levels {

/// The scalar in double precision.
template <class Scalar>
using double_t = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;

/// Y = X with columns scaled to entries of about one, or, if `back`, scaled back and multiplied by
/// `factor`. sizes: of the largest entry of a column.
template <class From, class To>
struct ScaleBySizes {
  BlockRef<From const> X;
  BlockRef<To> Y;
  double const* sizes;
  bool back;
  double factor;
  using Operands = From;
  KOKKOS_FORCEINLINE_FUNCTION From load(std::int64_t i, std::int64_t j) const { return X(i, j); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, From const& x) const {
    double const power = power_of_two(sizes[j]);
    using Wide = double_t<From>;
    Wide const value = convert_scalar<Wide>(x);
    Y(i, j) = convert_scalar<To>(Wide(value * (back ? factor * power : 1 / power)));
  }
};

/// Applies a cycle in single precision to blocks in double: columns are scaled by powers of two,
/// the same on all ranks. Memory grows to the widest block.
template <class Scalar, class Single, class Exec>
class NarrowBlocks {
 public:
  explicit NarrowBlocks(RowSpace rows = {}) : workspace_(std::move(rows)) {}

  /// Y = factor cycle(X); rows contiguous. Fences only if memory grows, and for sums over ranks
  /// that are staged through the host.
  template <class Cycle>
  void apply(Exec const& exec, Cycle const& cycle, double factor, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const {
    std::size_t const n = X.extent(0), k = X.extent(1);
    if (k > sizes_.extent(0)) grow(exec, n, k);
    Block<Single, Exec> const from(x_.data(), n, k), to(y_.data(), n, k);
    auto const columns = static_cast<std::int64_t>(k);
    // not norms, whose squares may leave the range of numbers
    reduce_columns(exec, "Blockspan::multigrid_sizes", LargestTerms<Scalar>{block_ref<Exec>(X)},
                   local_chunks(static_cast<std::int64_t>(n), workspace_), columns,
                   StoreSums<double, 1>{sizes_.data(), columns}, workspace_);
    auto const small = block_ref<Exec>(from);
    for_each_entry(
        exec, "Blockspan::multigrid_narrow", small,
        ScaleBySizes<Scalar, Single>{block_ref<Exec>(X), small, sizes_.data(), false, 1});
    cycle.apply(exec, from, to);
    auto const wide = block_ref<Exec>(Y);
    for_each_entry(
        exec, "Blockspan::multigrid_widen", wide,
        ScaleBySizes<Single, Scalar>{block_ref<Exec>(to), wide, sizes_.data(), true, factor});
  }

 private:
  /// All ranks together: where memory of one is short, the next call grows again on all.
  void grow(Exec const& exec, std::size_t n, std::size_t k) const {
    exec.fence("Blockspan::multigrid grows");
    x_ = y_ = {};
    sizes_ = {};
    sizes_ = workspace_.rows().communicator().run_agreed([&] {
      x_ = allocate<Block<Single, Exec>>(exec, "Blockspan::multigrid", n, k);
      y_ = allocate<Block<Single, Exec>>(exec, "Blockspan::multigrid", n, k);
      return allocate<Array<double, Exec>>(exec, "Blockspan::multigrid", k);
    });
  }

  mutable Workspace<Exec> workspace_;
  mutable Block<Single, Exec> x_, y_;
  mutable Array<double, Exec> sizes_;  ///< of the largest entries of columns; the width of x_, y_
};

}  // namespace blockspan::levels
