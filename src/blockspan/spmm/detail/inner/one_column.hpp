#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

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
    Scalar product = entries.value(k) * x[static_cast<std::int64_t>(entries.column(k)) * stride];
    BLOCKSPAN_KEEP_SCALAR(product);
    sum += product;
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

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::detail
