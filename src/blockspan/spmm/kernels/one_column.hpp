#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/stage.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/support/register_set.hpp>

namespace blockspan::detail {
inline namespace BLOCKSPAN_REGISTERS {

/// Hosts: the sum of a piece's products with one real column, whose k-th element stands at
/// x[k * stride]. Two chains of sums: one waits for its additions, and what four leave over of a
/// row is a loop whose end the processor cannot foresee.
template <class Entries, class Piece, class Scalar, class Stride>
BLOCKSPAN_HOST_INLINE Scalar multiply_column(Entries const& entries, Piece const& piece,
                                             Scalar const* x, Stride stride) {
  using Offset = decltype(piece.first);
  auto const add = [&](Scalar& sum, Offset k) {
    entries.prefetch(k);
    sum += entries.value(k) * x[static_cast<std::int64_t>(entries.column(k)) * stride];
    BLOCKSPAN_KEEP_SCALAR(sum);
  };
  Scalar even(0), odd(0);
  Offset k = piece.first;
  for (; piece.last - k >= Offset(2); k += Offset(2)) {
    add(even, k);
    add(odd, k + Offset(1));
  }
  if (k < piece.last) add(even, k);
  return even + odd;
}

/// Direct loads, for hosts and X of one real column without gaps: nothing but the loop over the
/// nonzeros is left, because a short row takes no longer than what stands around it.
template <class Scalar, class Entries>
struct OneColumn {
  Entries entries;
  Scalar const* x;

  static constexpr unsigned blocks = 0;
  static constexpr std::size_t thread_scratch_bytes = 0;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION NoStage stage(Team const&) const {
    return {};
  }

  template <class Team, class Piece, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, NoStage, Piece const& piece,
                                                Consume const& consume) const {
    KOKKOS_IF_ON_HOST((constexpr std::integral_constant<std::int64_t, 1> stride;
                       consume(0, Sum<Scalar, 1>{{multiply_column(entries, piece, x, stride)}});))
    KOKKOS_IF_ON_DEVICE(((void)piece; (void)consume;))
  }
};

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::detail
