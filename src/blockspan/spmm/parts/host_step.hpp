#pragma once

#include <algorithm>
#include <cstdint>

#include <blockspan/spmm/parts/host_writers.hpp>
#include <blockspan/spmm/parts/step.hpp>

namespace blockspan::products {
inline namespace BLOCKSPAN_REGISTERS {

/// TakeStep for the columns of Y that one pass of HostRows makes. Terms are rounded as in the pass
/// of the step's own (StepRows), so that it does not matter which of the two a row goes through.
template <class Scalar, class Pack>
struct StepWriter {
  using Real = real_t<Scalar>;
  using Registers = PackRegisters<Real, Pack>;
  static constexpr int parts = is_complex_v<Scalar> ? 2 : 1;

  TakeStep<Scalar> own;
  std::int64_t column;
  int reals;
  PackMasks<Real, Pack> masks;

  StepWriter(TakeStep<Scalar> const& epilogue, std::int64_t column_, int columns, bool,
             PackMasks<Real, Pack> const& masks_)
      : own(epilogue), column(column_), reals(parts * columns), masks(masks_) {}

  /// from: the first column of the sums, counted from that of the pass.
  BLOCKSPAN_HOST_INLINE void write(std::int64_t row, int from, Registers* sums) const {
    auto const at = [&](auto const& block) {
      return block.data + row * block.row_stride + column + from;
    };
    Real const factor = own.factor_of(row);
    auto* const to = reinterpret_cast<Real*>(at(own.Y));
    auto const* const residual = reinterpret_cast<Real const*>(at(own.step.R));
    auto const* const before = reinterpret_cast<Real const*>(at(own.step.Z));
    if constexpr (Pack::reals % parts != 0)
      return;  // no row of complex scalars has an odd number of reals
    else if constexpr (is_complex_v<Scalar>)
      write_each(to, residual, before, factor, sums);
    else
      write_registers(to, residual, before, factor, sums[0]);
  }

 private:
  BLOCKSPAN_HOST_INLINE void write_registers(Real* to, Real const* residual, Real const* before,
                                             Real factor, Registers const& sum) const {
    Registers result, change;
    if (own.step.add_z) {
      result.load(before, masks);
      Registers past = result;
      if (own.step.add_y) {
        Registers old;
        old.load(to, masks);
        past.add_product(-1, old);
      }
      result.add_product(own.step.momentum, past);
    }
    change.load(residual, masks);
    change.add_product(-1, sum);
    result.add_product(factor, change);
    result.store(to, masks);
  }

  BLOCKSPAN_HOST_INLINE void write_each(Real* to, Real const* residual, Real const* before,
                                        Real factor, Registers const* sums) const {
    Sum<Scalar, Pack::reals / parts> sum;
    collect_sums<Scalar, Pack>(sums, false, sum.value);
    auto const* const image = reinterpret_cast<Real const*>(sum.value);
    int const count = Pack::Masked == 0 ? Pack::reals : std::min(reals, Pack::reals);
    step_row(own.step.add_z, own.step.add_y, own.step.momentum, factor, residual, image, before, to,
             std::int64_t{count});
  }
};

/// TakeStep for the one column of a real Y.
template <class Scalar>
struct StepColumn {
  TakeStep<Scalar> own;

  explicit StepColumn(TakeStep<Scalar> const& epilogue) : own(epilogue) {}

  BLOCKSPAN_HOST_INLINE void write(std::int64_t row, Scalar sum) const {
    auto const& step = own.step;
    Scalar* const to = own.Y.data + row * own.Y.row_stride;
    step_row(step.add_z, step.add_y, step.momentum, own.factor_of(row),
             step.R.data + row * step.R.row_stride, &sum, step.Z.data + row * step.Z.row_stride, to,
             1);
  }
};

template <class Scalar>
struct HostWriters<TakeStep<Scalar>> {
  static constexpr bool writes_blocks = false;
  template <class Pack>
  using OfPass = StepWriter<Scalar, Pack>;
  using OfColumn = StepColumn<Scalar>;
};

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::products
