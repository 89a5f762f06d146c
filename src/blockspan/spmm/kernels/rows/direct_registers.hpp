#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

inline namespace BLOCKSPAN_REGISTERS {

/// Hosts: adds the products of entries [k, last) with one real column, whose i-th element is x[i *
/// stride], to two chains of sums, and returns their sum. Two, since one chain is bound by the
/// latency of additions, and four leave a remainder loop that branch prediction misses.
template <class Entries, class Index, class Scalar, class Stride>
BLOCKSPAN_HOST_INLINE Scalar add_to_column(Entries const& entries, Index k, Index last,
                                           Scalar const* x, Stride stride, Scalar even,
                                           Scalar odd) {
  auto const add = [&](Scalar& sum, Index i) {
    entries.prefetch(i);
    Scalar product = entries.value(i) * x[static_cast<std::int64_t>(entries.column(i)) * stride];
    BLOCKSPAN_KEEP_SCALAR(product);
    sum += product;
  };
  for (; last - k >= 2; k += 2) {
    add(even, k);
    add(odd, k + 1);
  }
  if (k < last) add(even, k);
  return even + odd;
}

/// The sum of a segment's products.
template <class Entries, class Segment, class Scalar, class Stride>
BLOCKSPAN_HOST_INLINE Scalar multiply_column(Entries const& entries, Segment const& segment,
                                             Scalar const* x, Stride stride) {
  return add_to_column(entries, segment.first, segment.last, x, stride, Scalar(0), Scalar(0));
}

/// Rows of X are prefetched for entries before this one; 0 where X stays in the caches.
template <class Call>
int host_prefetch_end(Call const& call) {
  auto const& X = call.product.X;
  std::int64_t const bytes = X.rows * X.columns * std::int64_t{sizeof(typename Call::Scalar)};
  std::int64_t const end = call.prepared.statistics.nonzeros - tuning::host_rows_ahead;
  return bytes >= tuning::host_asked_block && end > 0 ? static_cast<int>(end) : 0;
}

/// Direct loads, for hosts: one thread walks the nonzeros of a segment with the sums of up to
/// `MaxWidth` columns in registers, the widest vector first, halved for what remains; the last few
/// columns are one vector of their own.
///
/// A complex value times a row of X is two real products, re * x and im * x, added up apart; they
/// are put together (and conjugated, which costs nothing) when the segment ends. So the loop is the
/// same for real and complex: no shuffles in it.
///
/// Narrow vectors have several chains of sums, among which the nonzeros alternate: an addition
/// waits for the one before it in its own chain only. The number of chains is fixed by the width
/// and the length of the segment, and so is the order of the sums.
///
/// Unit: the elements of a row of X are contiguous; otherwise X may have any strides.
template <class Scalar, class Entries, int MaxWidth, bool Unit>
struct DirectRegisters {
  using Real = real_t<Scalar>;
  static constexpr int parts = is_complex_v<Scalar> ? 2 : 1;
  template <int Width>
  using Set = RegisterSet<Real, Width * parts>;
  template <int Width>
  static constexpr int chains = std::clamp(tuning::host_vector_bytes /
                                               (Width * int(sizeof(Scalar)) * parts),
                                           1, tuning::host_chains);

  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;

  static constexpr unsigned blocks = 0;
  static constexpr bool contiguous = false;

  template <class Call>
  static DirectRegisters of(Call const& call, Entries const& entries) {
    return {entries, call.product.X, conjugates(call.product.op)};
  }

  /// Whether vectors of columns are outside the rows of a team: loop overhead dominates short rows.
  /// Wider rows of X would be read in parts, far from each other in time.
  KOKKOS_FORCEINLINE_FUNCTION bool vectors_outside() const { return X.columns <= MaxWidth; }

  /// function(first column, width as a type) for all columns, in vectors of at most MaxWidth.
  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_vector(Function const& function) const {
    vectors_from<MaxWidth>(0, function);
  }

  /// consume(column, sum) for the first column of each vector and the sums of all of its columns.
  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, Segment const& segment,
                                                Consume const& consume) const {
    for_each_vector([&](std::int64_t column, auto width) {
      KOKKOS_IF_ON_HOST((multiply_vector<decltype(width)::value>(segment, column, consume);))
      KOKKOS_IF_ON_DEVICE(((void)segment; (void)column; (void)width; (void)consume;))
    });
  }

  /// consume(column, sum) for the vector of columns from `column` on.
  template <int Width, class Segment, class Consume>
  BLOCKSPAN_HOST_INLINE void multiply_vector(Segment const& segment, std::int64_t column,
                                             Consume const& consume) const {
    // GCC 12 keeps a set of a single scalar in memory: every addition would wait for a store
    if constexpr (Width * parts == 1) {
      Scalar const* const x = X.data + column * X.column_stride;
      consume(column, Sum<Scalar, 1>{{multiply_column(entries, segment, x, X.row_stride)}});
    } else {
      constexpr int depth = chains<Width>;
      // short rows do not amortize adding up several chains
      if constexpr (depth > 1)
        if (segment.last - segment.first >= tuning::host_chained_row)
          return multiply_long<Width>(segment, column, consume);
      consume(column, multiply<1, Width>(segment, X.data + column * X.column_stride));
    }
  }

  /// Not inlined: short rows need the registers.
  template <int Width, class Segment, class Consume>
  inline BLOCKSPAN_NOINLINE void multiply_long(Segment const& segment, std::int64_t column,
                                               Consume const& consume) const {
    consume(column, multiply<chains<Width>, Width>(segment, X.data + column * X.column_stride));
  }

  template <int Chains, int Width, class Segment>
  BLOCKSPAN_HOST_INLINE Sum<Scalar, Width> multiply(Segment const& segment, Scalar const* x) const {
    Set<Width> sums[Chains][parts];
    // GCC 12 would add the offset of the first column to that of every row
    asm("" : "+r"(x));
    int k = segment.first;
    if constexpr (Chains > 1)
      for (; segment.last - k >= Chains; k += Chains)
        for (int u = 0; u < Chains; ++u) add_entry<Width>(x, k + u, sums[u]);
    for (; k < segment.last; ++k) add_entry<Width>(x, k, sums[0]);
    for (int u = 1; u < Chains; ++u)
      for (int part = 0; part < parts; ++part) sums[0][part].add(sums[u][part]);
    return collect<Width>(sums[0]);
  }

  /// Calls the function for the columns from `first` on, in vectors of at most `Width`.
  template <int Width, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void vectors_from(std::int64_t first,
                                                Function const& function) const {
    for (; X.columns - first >= Width; first += Width)
      function(first, std::integral_constant<int, Width>{});
    if constexpr (Unit && Width == tuning::host_last_few)
      last_few(first, function);
    else if constexpr (Width > 1)
      vectors_from<Width / 2>(first, function);
  }

  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void last_few(std::int64_t first, Function const& function) const {
    static_assert(tuning::host_last_few == 8, "the cases below");
    switch (X.columns - first) {
      case 1:
        return function(first, std::integral_constant<int, 1>{});
      case 2:
        return function(first, std::integral_constant<int, 2>{});
      case 3:
        return function(first, std::integral_constant<int, 3>{});
      case 4:
        return function(first, std::integral_constant<int, 4>{});
      case 5:
        return function(first, std::integral_constant<int, 5>{});
      case 6:
        return function(first, std::integral_constant<int, 6>{});
      case 7:
        return function(first, std::integral_constant<int, 7>{});
      default:
        return;
    }
  }

  template <int Width>
  BLOCKSPAN_HOST_INLINE void add_entry(Scalar const* x, int k, Set<Width>* sums) const {
    Scalar const a = entries.value(k);
    entries.prefetch(k);
    add_product<Width>(a, fetch<Width>(x, entries.column(k)), sums);
  }

  template <int Width, class Ordinal>
  BLOCKSPAN_HOST_INLINE Set<Width> fetch(Scalar const* x, Ordinal column) const {
    Scalar const* const row = x + static_cast<std::int64_t>(column) * X.row_stride;
    Set<Width> b;
    if constexpr (Unit)
      b.load(reinterpret_cast<Real const*>(row));
    else
      b.template load_strided<parts>(reinterpret_cast<Real const*>(row), X.column_stride * parts);
    return b;
  }

  template <int Width>
  BLOCKSPAN_HOST_INLINE static void add_product(Scalar const& a, Set<Width> const& b,
                                                Set<Width>* sums) {
    if constexpr (parts == 2) {
      sums[0].add_product(a.real(), b);
      sums[1].add_product(a.imag(), b);
    } else {
      sums[0].add_product(a, b);
    }
  }

  template <int Width>
  BLOCKSPAN_HOST_INLINE Sum<Scalar, Width> collect(Set<Width> const* sums) const {
    Sum<Scalar, Width> result;
    if constexpr (parts == 2) {
      Real by_real[2 * Width], by_imaginary[2 * Width];
      sums[0].store(by_real);
      sums[1].store(by_imaginary);
      Real const sign = conjugate_values ? Real(-1) : Real(1);
      for (int j = 0; j < Width; ++j)
        result.value[j] = Scalar(by_real[2 * j] - sign * by_imaginary[2 * j + 1],
                                 by_real[2 * j + 1] + sign * by_imaginary[2 * j]);
    } else {
      sums[0].store(result.value);
    }
    return result;
  }
};

}  // namespace BLOCKSPAN_REGISTERS

}  // namespace blockspan::products
