#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/extended.hpp"

namespace blockspan::test {

/// Whether what Kokkos Kernels lends is compiled for this scalar.
template <class Scalar>
inline constexpr bool has_kokkos_kernels = sizeof(real_t<Scalar>) == 8;

/// Sparse, Hermitian and diagonally dominant, with a diagonal between 1 and 2^10 and complex
/// entries where they fit; rows backwards, every fourth entry in two halves.
template <class Scalar>
HostMatrix<Scalar> sparse_definite(std::int64_t n, HostBlock<Scalar>& B) {
  Random random(9);
  B = HostBlock<Scalar>(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      std::int64_t const j = random.below(n);
      if (j != i) B(i, j) = random.value<Scalar>(), B(j, i) = blockspan::conjugate(B(i, j));
    }
  std::vector<double> scale(static_cast<std::size_t>(n));
  for (auto& s : scale) s = std::ldexp(1.0, static_cast<int>(random.below(6)));
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0.1;
    for (std::int64_t j = 0; j < n; ++j)
      if (j != i) sum += static_cast<double>(magnitude(B(i, j)));
    B(i, i) = Scalar(static_cast<real_t<Scalar>>(sum));
  }
  HostMatrix<Scalar> A{"definite", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = n - 1; j >= 0; --j) {
      if (B(i, j) == Scalar(0)) continue;
      B(i, j) *= static_cast<real_t<Scalar>>(scale[i] * scale[j]);
      bool const halves = (i + j) % 4 == 0;
      A.add(j, halves ? B(i, j) * real_t<Scalar>(0.5) : B(i, j));
      if (halves) A.add(j, B(i, j) * real_t<Scalar>(0.5));
    }
    A.end_row();
  }
  return A;
}

}  // namespace blockspan::test
