#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/sixteen_bit_registers.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/registers/sixteen_bit.hpp>
#include <blockspan/support/registers/unroll.hpp>

// Products of 16-bit storage scalars, summed in float: whole rows or listed segments. A sum has one
// chain of additions, in the order of the entries, so that a column has the same bits in every
// block.

namespace blockspan::products {

/// Devices: a lane owns vectors of `Width` neighbouring columns, one after the other; 1: single
/// columns, and X may have any strides.
template <class Storage, class Entries, int Width>
struct SixteenBitLanes {
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr int depth = tuning::sixteen_bit_depth;

  Entries entries;
  BlockRef<Storage const> X;
  LaneGrid grid;

  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, Segment const& segment,
                                                Consume const& consume) const {
    for_each_lane<true>(team, grid.lanes(), [&](int lane) {
      std::int64_t const step = std::int64_t{grid.lanes()} * Width;
      for (std::int64_t column = std::int64_t{lane} * Width; column < X.columns; column += step)
        consume(column, sum_of(segment, X.data + column * X.column_stride));
    });
  }

 private:
  template <class Segment>
  KOKKOS_FORCEINLINE_FUNCTION Sum<float, Width> sum_of(Segment const& segment,
                                                       Storage const* x) const {
    Sum<float, Width> sum{};
    int k = segment.first;
    for (; segment.last - k >= depth; k += depth) add<depth>(k, x, sum);
    for (; k < segment.last; ++k) add<1>(k, x, sum);
    return sum;
  }

  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add(int k, Storage const* x, Sum<float, Width>& sum) const {
    float a[Count];
    Vector<Storage, Width> b[Count];
    BLOCKSPAN_UNROLL
    for (int u = 0; u < Count; ++u) {
      a[u] = entries.value(k + u);
      auto const row = static_cast<std::int64_t>(entries.column(k + u));
      b[u] = load(reinterpret_cast<Vector<Storage, Width> const*>(x + row * X.row_stride));
    }
    BLOCKSPAN_UNROLL
    for (int u = 0; u < Count; ++u) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Width; ++j) sum.value[j] += a[u] * float(b[u].value[j]);
    }
  }
};

inline namespace BLOCKSPAN_REGISTERS {

/// Hosts: the sums of up to `MaxWidth` columns in registers, the widest first, halved for what
/// remains. Unit: rows of X are contiguous; else they are read element by element.
template <class Storage, class Entries, int MaxWidth, bool Unit>
struct SixteenBitRegisters {
  template <int Width>
  using Set = RegisterSet<float, Width>;
  static constexpr unsigned blocks = 0;

  Entries entries;
  BlockRef<Storage const> X;

  KOKKOS_FORCEINLINE_FUNCTION bool vectors_outside() const { return X.columns <= MaxWidth; }

  /// function(first column, width as a type) for all columns.
  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_vector(Function const& function) const {
    vectors_from<MaxWidth>(0, function);
  }

  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, Segment const& segment,
                                                Consume const& consume) const {
    for_each_vector([&](std::int64_t column, auto width) {
      KOKKOS_IF_ON_HOST((multiply_vector<decltype(width)::value>(segment, column, consume);))
      KOKKOS_IF_ON_DEVICE(((void)segment; (void)column; (void)width; (void)consume;))
    });
  }

  template <int Width, class Segment, class Consume>
  BLOCKSPAN_HOST_INLINE void multiply_vector(Segment const& segment, std::int64_t column,
                                             Consume const& consume) const {
    Storage const* x = X.data + column * X.column_stride;
    asm("" : "+r"(x));  // as in DirectRegisters
    Sum<float, Width> result;
    if constexpr (Width == 1) {
      result.value[0] = 0;
      for (int k = segment.first; k < segment.last; ++k)
        result.value[0] += value(k) * widen<1>(row(x, k));
    } else {
      Set<Width> sums;
      for (int k = segment.first; k < segment.last; ++k) {
        Set<Width> b;
        fetch<Width>(row(x, k), b);
        sums.add_product(value(k), b);
      }
      sums.store(result.value);
    }
    consume(column, result);
  }

 private:
  template <int Width, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void vectors_from(std::int64_t first,
                                                Function const& function) const {
    for (; X.columns - first >= Width; first += Width)
      function(first, std::integral_constant<int, Width>{});
    if constexpr (Width > 1) vectors_from<Width / 2>(first, function);
  }

  BLOCKSPAN_HOST_INLINE float value(int k) const {
    entries.prefetch(k);
    return widen<1>(entries.address(k));
  }
  BLOCKSPAN_HOST_INLINE Storage const* row(Storage const* x, int k) const {
    return x + static_cast<std::int64_t>(entries.column(k)) * X.row_stride;
  }
  template <int Width>
  BLOCKSPAN_HOST_INLINE void fetch(Storage const* from, Set<Width>& b) const {
    if constexpr (Unit) {
      load_set(b, from);
    } else {
      float values[Width];
      for (int j = 0; j < Width; ++j) values[j] = from[j * X.column_stride];
      b.load(values);
    }
  }
};

}  // namespace BLOCKSPAN_REGISTERS

/// y = alpha * sum + beta * y, rounded once, without reading y where beta is zero.
template <class Storage, bool OnHost>
struct RoundedScaleAdd {
  float alpha, beta;
  bool overwrite;  ///< beta is zero
  BlockRef<Storage> Y;
  bool vectors_fit;  ///< devices: rows of Y are whole vectors

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION RoundedScaleAdd const& of_team(Team const&) const {
    return *this;
  }
  static constexpr std::size_t scratch_bytes(int) { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {}

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int, std::int64_t column,
                                              Sum<float, Width> const& sum, int) const {
    finish_cut_row(0, row, column, sum);
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void finish_cut_row(std::int64_t, std::int64_t row,
                                                  std::int64_t column,
                                                  Sum<float, Width> const& sum) const {
    Storage* const y = Y.data + row * Y.row_stride + column * Y.column_stride;
    if constexpr (OnHost && Width > 1) {
      if (Y.column_stride == 1) {
        KOKKOS_IF_ON_HOST((write_registers<Width>(y, sum);))
        return;
      }
    }
    if constexpr (!OnHost && Width > 1) {
      if (vectors_fit) return write_vector<Width>(y, sum);
    }
    for (int j = 0; j < Width; ++j) write(y[j * Y.column_stride], sum.value[j]);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void write(Storage& y, float sum) const {
    y = Storage(overwrite ? alpha * sum : alpha * sum + beta * float(y));
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write_vector(Storage* y, Sum<float, Width> const& sum) const {
    auto* const place = reinterpret_cast<Vector<Storage, Width>*>(y);
    Vector<Storage, Width> vector{};
    if (!overwrite) vector = *place;
    BLOCKSPAN_UNROLL
    for (int j = 0; j < Width; ++j) write(vector.value[j], sum.value[j]);
    *place = vector;
  }

  template <int Width>
  BLOCKSPAN_HOST_INLINE void write_registers(Storage* y, Sum<float, Width> const& sum) const {
    RegisterSet<float, Width> result;
    result.load(sum.value);
    result.scale(alpha);
    if (!overwrite) {
      RegisterSet<float, Width> old;
      load_set(old, y);
      result.add_product(beta, old);
    }
    store_set(result, y);
  }
};

template <class Storage, class Call>
RoundedScaleAdd<Storage, runs_on_host_v<typename Call::Exec>> rounded_epilogue(Call const& call) {
  auto const& [op, alpha, X, beta, Y] = call.product;
  return {alpha, beta, beta == 0, Y, rows_are_vectors(Y)};
}

template <class Storage, class Call, class Inner>
void launch_sixteen_bit_inner(Call const& call, Inner const& inner) {
  with_schedule<Inner>(call, [&](LaunchShape const& shape, auto const& schedule) {
    launch_kernel(call.exec, call.variant().label, shape, schedule, inner,
                  rounded_epilogue<Storage>(call));
  });
}

template <class Storage, class Call, class Entries>
void launch_sixteen_bit_rows(Call const& call, Entries const& entries) {
  auto const& X = call.product.X;
  if constexpr (runs_on_host_v<typename Call::Exec>) {
    constexpr int few = tuning::sixteen_bit_strided_columns,
                  many = tuning::sixteen_bit_host_columns;
    if (X.column_stride == 1)
      launch_sixteen_bit_inner<Storage>(
          call, SixteenBitRegisters<Storage, Entries, many, true>{entries, X});
    else
      launch_sixteen_bit_inner<Storage>(
          call, SixteenBitRegisters<Storage, Entries, few, false>{entries, X});
  } else {
    LaneGrid const& grid = call.launch.lanes.grid;
    if (call.launch.vectorized)
      launch_sixteen_bit_inner<Storage>(
          call, SixteenBitLanes<Storage, Entries, device_vector_v<Storage>>{entries, X, grid});
    else
      launch_sixteen_bit_inner<Storage>(call,
                                        SixteenBitLanes<Storage, Entries, 1>{entries, X, grid});
  }
}

/// The segments that the plan has listed, or whole rows.
template <class Call>
void launch_sixteen_bit(Call const& call) {
  with_entries<false, true>(call, [&](auto const& entries) {
    launch_sixteen_bit_rows<typename Call::Storage>(call, entries);
  });
}

}  // namespace blockspan::products
