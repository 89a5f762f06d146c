#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/epilogue/stream_store.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/support/register_set.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// y = alpha * sum + beta * y, and y = alpha * sum without reading y where beta is zero. The only
/// writer of Y; sees each row once, finished. Packed: rows of Y are contiguous,
/// and packs aligned. Anywhere, in spite of that: sums come in packs, but Y may be of any strides,
/// and less than whole packs wide.
template <class Scalar, bool Packed, bool OnHost, bool Anywhere = false>
struct ScaleAdd {
  Scalar alpha;
  Scalar beta;
  bool overwrite;  ///< beta is zero
  bool stream;     ///< hosts: Y is too large for the caches
  BlockRef<Scalar> Y;
  bool packs_fit = false;  ///< Anywhere: Y is whole packs

  /// What writes the rows of a team, and of the cut row with this number: here nothing is kept. On
  /// hosts a copy, because a row that is written might be alpha or beta for all the compiler knows,
  /// which would be read again for every row.
  using OfTeam = std::conditional_t<OnHost, ScaleAdd, ScaleAdd const&>;
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION OfTeam of_team(Team const&) const {
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION ScaleAdd const& of_cut_row(std::int64_t) const { return *this; }
  /// Of a team.
  static constexpr std::size_t scratch_bytes(int) { return 0; }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    Scalar* const y = Y.data + row * Y.row_stride;
    if constexpr (Anywhere && Width > 1)
      if (!packs_fit)
        return write_those_there_are<Width>(y + column * Y.column_stride, column, sum);
    if constexpr (Packed && Width > 1)
      write_pack<Width>(y + column, sum);
    else if constexpr (Packed && !Anywhere)
      write_contiguous<Width>(y + column, sum);
    else if (Y.column_stride == 1)
      write_contiguous<Width>(y + column, sum);
    else if constexpr (OnHost && Width > 1)
      write_strided<Width>(y + column * Y.column_stride, sum);
    else
      write<Width>(y + column * Y.column_stride, Y.column_stride, sum);
  }

  /// The i-th row of a piece that begins with `row`; which of a lane's packs it is does not matter.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int i, std::int64_t column,
                                              Sum<Scalar, Width> const& sum, int) const {
    (*this)(row + i, column, sum);
  }

  /// After the last row of a team.
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {
    if constexpr (OnHost)
      if (overwrite && stream) finish_stream_stores();
  }

 private:
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write_those_there_are(Scalar* y, std::int64_t column,
                                                         Sum<Scalar, Width> const& sum) const {
    BLOCKSPAN_UNROLL
    for (int j = 0; j < Width; ++j)
      if (column + j < Y.columns) write<1>(y + j * Y.column_stride, 1, {{sum.value[j]}});
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write_pack(Scalar* y, Sum<Scalar, Width> const& sum) const {
    using P = Pack<Scalar, Width>;
    P pack{};
    if (!overwrite) pack = *reinterpret_cast<P const*>(y);
    for (int j = 0; j < Width; ++j)
      pack.value[j] =
          overwrite ? alpha * sum.value[j] : alpha * sum.value[j] + beta * pack.value[j];
    *reinterpret_cast<P*>(y) = pack;
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write_contiguous(Scalar* y,
                                                    Sum<Scalar, Width> const& sum) const {
    if constexpr (OnHost && can_stream_v<sizeof(Scalar) * Width>) {
      if (overwrite && stream && is_line_aligned(y)) {
        Sum<Scalar, Width> scaled;
        for (int j = 0; j < Width; ++j) scaled.value[j] = alpha * sum.value[j];
        stream_store(y, scaled);
        return;
      }
    }
    write<Width>(y, 1, sum);
  }

  /// GCC 12 would take the sums apart, number by number.
  template <int Width>
  BLOCKSPAN_HOST_INLINE void write_registers(Scalar* y, Sum<Scalar, Width> const& sum) const {
    RegisterSet<Scalar, Width> result;
    result.load(sum.value);
    result.scale(alpha);
    if (!overwrite) {
      RegisterSet<Scalar, Width> old;
      old.load(y);
      result.add_product(beta, old);
    }
    result.store(y);
  }

  /// Hosts: out of the way of contiguous rows, which need the registers.
  template <int Width>
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void write_strided(Scalar* y,
                                                        Sum<Scalar, Width> const& sum) const {
    write<Width>(y, Y.column_stride, sum);
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write(Scalar* y, std::int64_t stride,
                                         Sum<Scalar, Width> const& sum) const {
    if constexpr (OnHost && !is_complex_v<Scalar> && Width > 1) {
      if (stride == 1) {
        KOKKOS_IF_ON_HOST((write_registers<Width>(y, sum);))
        return;
      }
    }
    if (overwrite)
      for (int j = 0; j < Width; ++j) y[j * stride] = alpha * sum.value[j];
    else
      for (int j = 0; j < Width; ++j) y[j * stride] = alpha * sum.value[j] + beta * y[j * stride];
  }
};

}  // namespace blockspan::detail
