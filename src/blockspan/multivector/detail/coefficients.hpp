#pragma once

#include <blockspan/multivector/detail/real_view.hpp>

namespace blockspan::detail {

/// Entry (l, column) of alpha C as a real matrix: a complex entry c is [re im; -im re], so that a
/// row (x_re, x_im) times it is x c.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> real_coefficient(Scalar const& alpha,
                                                            BlockRef<Scalar const> const& C, int l,
                                                            int column) {
  constexpr int p = parts<Scalar>;
  Scalar const c = alpha * C(l / p, column / p);
  if constexpr (p == 1)
    return c;
  else if (l % 2 == column % 2)
    return real_part(c);
  else
    return l % 2 == 0 ? imaginary_part(c) : -imaginary_part(c);
}

}  // namespace blockspan::detail
