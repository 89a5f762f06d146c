#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::levels {

/// The scalar in double precision.
template <class Scalar>
using double_t = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;

/// The largest power of two that is at most `norm`; 1 for zero, subnormal values, infinity and NaN.
KOKKOS_INLINE_FUNCTION double power_of_two(double norm) {
  auto const bits = Kokkos::bit_cast<std::uint64_t>(norm) & 0x7FF0000000000000u;
  return bits == 0 || bits == 0x7FF0000000000000u ? 1 : Kokkos::bit_cast<double>(bits);
}

/// Y = X with columns scaled to about unit norm, or, if `back`, scaled back and multiplied by
/// `factor`.
template <class From, class To>
struct ScaleByNorms {
  BlockRef<From const> X;
  BlockRef<To> Y;
  double const* norms;
  bool back;
  double factor;
  using Operands = From;
  KOKKOS_FORCEINLINE_FUNCTION From load(std::int64_t i, std::int64_t j) const { return X(i, j); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, From const& x) const {
    double const power = power_of_two(norms[j]);
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
    if (k > norms_.extent(0)) {
      exec.fence("Blockspan::multigrid grows");
      x_ = y_ = {};
      x_ = allocate<Block<Single, Exec>>(exec, "Blockspan::multigrid", n, k);
      y_ = allocate<Block<Single, Exec>>(exec, "Blockspan::multigrid", n, k);
      norms_ = allocate<Array<double, Exec>>(exec, "Blockspan::multigrid", k);
    }
    Block<Single, Exec> const from(x_.data(), n, k), to(y_.data(), n, k);
    // marked as device memory even where the host can access it, so that column_norms does not
    // fence
    multivector::column_norms<Exec, Scalar>(
        exec, block_ref<Exec>(X),
        SmallRef<double>{{norms_.data(), static_cast<std::int64_t>(k), 1, 1, 1}, true, false},
        workspace_);
    auto const small = block_ref<Exec>(from);
    for_each_entry(
        exec, "Blockspan::multigrid_narrow", small,
        ScaleByNorms<Scalar, Single>{block_ref<Exec>(X), small, norms_.data(), false, 1});
    cycle.apply(exec, from, to);
    auto const wide = block_ref<Exec>(Y);
    for_each_entry(
        exec, "Blockspan::multigrid_widen", wide,
        ScaleByNorms<Single, Scalar>{block_ref<Exec>(to), wide, norms_.data(), true, factor});
  }

 private:
  mutable Workspace<Exec> workspace_;
  mutable Block<Single, Exec> x_, y_;
  mutable Array<double, Exec> norms_;
};

}  // namespace blockspan::levels
