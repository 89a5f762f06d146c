#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/scale_add.hpp>
#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/registers/row_registers.hpp>
#include <blockspan/support/scalar.hpp>

// What HostRows does with the sums of a row of Y, which are in registers. A writer is a copy of all
// that it needs: no store to Y can change it, so that it stays in registers from row to row.

namespace blockspan::products {
inline namespace BLOCKSPAN_REGISTERS {

template <class Real, class Pack>
using PackRegisters =
    std::conditional_t<Pack::Width == 1, MixedRegisters<Real, Pack::reals>,
                       RowRegisters<Real, Pack::Width, Pack::Count, Pack::Masked>>;
template <class Real, class Pack>
using PackMasks = LaneMasks<Real, Pack::Width>;

/// The sums of a row. Complex ones come as two sets, by real and by imaginary values of A, and are
/// put together.
template <class Scalar, class Pack>
BLOCKSPAN_HOST_INLINE void collect_sums(PackRegisters<real_t<Scalar>, Pack> const* sums,
                                        bool conjugate, Scalar* to) {
  using Real = real_t<Scalar>;
  if constexpr (is_complex_v<Scalar>) {
    Real by_real[Pack::reals], by_imaginary[Pack::reals];
    sums[0].store_whole(by_real);
    sums[1].store_whole(by_imaginary);
    Real const sign = conjugate ? Real(-1) : Real(1);
    for (int j = 0; j < Pack::reals / 2; ++j)
      to[j] = Scalar(by_real[2 * j] - sign * by_imaginary[2 * j + 1],
                     by_real[2 * j + 1] + sign * by_imaginary[2 * j]);
  } else {
    sums[0].store_whole(to);
  }
}

/// ScaleAdd for the columns of Y that one pass makes.
template <class Scalar, class Pack>
struct ScaleAddWriter {
  using Real = real_t<Scalar>;
  using Registers = PackRegisters<Real, Pack>;
  static constexpr int most_columns = Pack::reals / (is_complex_v<Scalar> ? 2 : 1);

  Scalar alpha, beta;
  bool overwrite, stream, contiguous, conjugate;
  int columns;
  Scalar* y;  ///< row 0, first column
  std::int64_t row_stride, column_stride;
  PackMasks<Real, Pack> masks;

  ScaleAddWriter(ScaleAdd<Scalar, false, true> const& epilogue, std::int64_t column, int columns_,
                 bool conjugate_, PackMasks<Real, Pack> const& masks_)
      : alpha(epilogue.alpha),
        beta(epilogue.beta),
        overwrite(epilogue.overwrite),
        stream(epilogue.overwrite && epilogue.stream),
        contiguous(epilogue.Y.column_stride == 1),
        conjugate(conjugate_),
        columns(columns_),
        y(epilogue.Y.data + column * epilogue.Y.column_stride),
        row_stride(epilogue.Y.row_stride),
        column_stride(epilogue.Y.column_stride),
        masks(masks_) {}

  /// from: the first column of the sums, counted from that of the pass.
  BLOCKSPAN_HOST_INLINE void write(std::int64_t row, int from, Registers* sums) const {
    Scalar* const to = y + row * row_stride + from * column_stride;
    if constexpr (is_complex_v<Scalar>) {
      write_each(to, sums);
    } else {
      if (!contiguous) return write_each(to, sums);
      sums[0].scale(alpha);
      if (!overwrite) {
        Registers old;
        old.load(to, masks);
        sums[0].add_product(beta, old);
      }
      if constexpr (Pack::Masked == 0 && can_stream_v<sizeof(Real) * Pack::reals>) {
        if (stream && is_line_aligned(to)) {
          Sum<Scalar, Pack::reals> scaled;
          sums[0].store_whole(scaled.value);
          return stream_store(to, scaled);
        }
      }
      sums[0].store(to, masks);
    }
  }

  BLOCKSPAN_HOST_INLINE void write_each(Scalar* to, Registers const* sums) const {
    Sum<Scalar, most_columns> sum;
    collect_sums<Scalar, Pack>(sums, conjugate, sum.value);
    // GCC 12 with AVX2 would assume reads beyond the sum without it
    int const count = Pack::Masked == 0 ? most_columns : std::min(columns, most_columns);
    for (int j = 0; j < count; ++j) {
      Scalar& into = to[j * column_stride];
      into = overwrite ? alpha * sum.value[j] : alpha * sum.value[j] + beta * into;
    }
  }
};

/// ScaleAdd for the one column of a real Y.
template <class Scalar>
struct ScaleAddColumn {
  Scalar alpha, beta;
  bool overwrite;
  Scalar* y;
  std::int64_t row_stride;

  explicit ScaleAddColumn(ScaleAdd<Scalar, false, true> const& epilogue)
      : alpha(epilogue.alpha),
        beta(epilogue.beta),
        overwrite(epilogue.overwrite),
        y(epilogue.Y.data),
        row_stride(epilogue.Y.row_stride) {}

  BLOCKSPAN_HOST_INLINE void write(std::int64_t row, Scalar sum) const {
    Scalar* const to = y + row * row_stride;
    *to = overwrite ? alpha * sum : alpha * sum + beta * *to;
  }
};

/// The writers of an epilogue: OfPass<Pack>, and OfColumn for the one column of a real Y.
/// writes_blocks: it writes a block Y and nothing else, of any strides.
template <class Epilogue>
struct HostWriters;
template <class Scalar>
struct HostWriters<ScaleAdd<Scalar, false, true>> {
  static constexpr bool writes_blocks = true;
  template <class Pack>
  using OfPass = ScaleAddWriter<Scalar, Pack>;
  using OfColumn = ScaleAddColumn<Scalar>;
};

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::products
