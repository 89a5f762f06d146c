#pragma once

#include <cstdint>

#include <blockspan/spmm/parts/host_writers.hpp>
#include <blockspan/spmm/parts/step.hpp>

namespace blockspan::detail {
inline namespace BLOCKSPAN_REGISTERS {

/// TakeStep for the columns of Y that one pass of HostRows makes. Terms are rounded as in the pass
/// of the step's own (StepRows), so that it does not matter which of the two a row goes through.
template <class Scalar, class Pack>
struct StepWriter {
  using Real = real_t<Scalar>;
  using Registers = PackRegisters<Real, Pack>;
  static constexpr int parts = is_complex_v<Scalar> ? 2 : 1;

  bool keeps, remembers;
  Real momentum, factor;
  Real const *weights, *r, *z;  ///< row 0, first column
  Real* y;
  std::int64_t r_stride, z_stride, y_stride;
  int reals;
  PackMasks<Real, Pack> masks;

  StepWriter(TakeStep<Scalar> const& epilogue, std::int64_t column, int columns, bool,
             PackMasks<Real, Pack> const& masks_)
      : keeps(epilogue.step.keeps),
        remembers(epilogue.step.remembers),
        momentum(epilogue.step.momentum),
        factor(epilogue.step.factor),
        weights(epilogue.step.weights),
        r(reinterpret_cast<Real const*>(epilogue.step.R.data + column)),
        z(reinterpret_cast<Real const*>(epilogue.step.Z.data + column)),
        y(reinterpret_cast<Real*>(epilogue.Y.data + column)),
        r_stride(parts * epilogue.step.R.row_stride),
        z_stride(parts * epilogue.step.Z.row_stride),
        y_stride(parts * epilogue.Y.row_stride),
        reals(parts * columns),
        masks(masks_) {}

  BLOCKSPAN_HOST_INLINE void write(std::int64_t row, int from, Registers* sums) const {
    Real const of_row = weights == nullptr ? factor : factor * weights[row];
    Real* const to = y + row * y_stride + parts * from;
    Real const* const residual = r + row * r_stride + parts * from;
    Real const* const before = z + row * z_stride + parts * from;
    if constexpr (is_complex_v<Scalar>)
      write_each(to, residual, before, of_row, sums);
    else
      write_registers(to, residual, before, of_row, sums[0]);
  }

 private:
  BLOCKSPAN_HOST_INLINE void write_registers(Real* to, Real const* residual, Real const* before,
                                             Real of_row, Registers const& sum) const {
    Registers result, change;
    if (keeps) {
      result.load(before, masks);
      Registers past = result;
      if (remembers) {
        Registers old;
        old.load(to, masks);
        past.add_product(-1, old);
      }
      result.add_product(momentum, past);
    }
    change.load(residual, masks);
    change.add_product(-1, sum);
    result.add_product(of_row, change);
    result.store(to, masks);
  }

  BLOCKSPAN_HOST_INLINE void write_each(Real* to, Real const* residual, Real const* before,
                                        Real of_row, Registers const* sums) const {
    Sum<Scalar, Pack::reals / parts> sum;
    collect_sums<Scalar, Pack>(sums, false, sum.value);
    auto const* const image = reinterpret_cast<Real const*>(sum.value);
    int const count = Pack::Masked == 0 ? Pack::reals : std::min(reals, Pack::reals);
    step_row(keeps, remembers, momentum, of_row, residual, image, before, to, std::int64_t{count});
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
    step_row(step.keeps, step.remembers, step.momentum, own.factor_of(row),
             step.R.data + row * step.R.row_stride, &sum, step.Z.data + row * step.Z.row_stride, to,
             1);
  }
};

template <class Scalar>
struct HostWriters<TakeStep<Scalar>> {
  template <class Pack>
  using OfPass = StepWriter<Scalar, Pack>;
  using OfColumn = StepColumn<Scalar>;
};

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::detail
