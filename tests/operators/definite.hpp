#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/extended.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

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

/// What preconditioners of Kokkos Kernels refuse: other scalars and shapes, diagonal entries that
/// are not positive and finite, by the row, and another order in a refresh. make(A): one for A.
template <class Scalar, class Exec, class Make>
void expect_refusals(Exec const& exec, std::string const& name, Make const& make) {
  using ::testing::HasSubstr;
  std::string const where = "blockspan::" + name + ": ";
  auto const refusal = [&](HostMatrix<Scalar> const& A) {
    return message_of([&] { make(to_device(exec, A)); });
  };
  if constexpr (!has_kokkos_kernels<Scalar>) {
    EXPECT_EQ(refusal(band<Scalar>(4)),
              where + "compiled for double and complex double only (matrix 4 x 4)");
  } else {
    auto const wide = random_matrix<Scalar>("wide", 3, 5, [](auto) { return 2; });
    EXPECT_THAT(refusal(wide), HasSubstr("must be square (3 x 5)"));
    for (auto const bad : {Scalar(0), Scalar(-1), not_a_number<Scalar>(),
                           Scalar(std::numeric_limits<real_t<Scalar>>::infinity())}) {
      HostMatrix<Scalar> A{"bad", 3, 3, {0, 1, 2, 3}, {0, 1, 2}, {Scalar(1), bad, bad}};
      EXPECT_EQ(refusal(A), where + "the diagonal entry of row 2 is not positive and finite");
    }
    HostMatrix<Scalar> const missing{"missing", 2, 2, {0, 1, 1}, {0}, {Scalar(1)}};
    EXPECT_EQ(refusal(missing), where + "the diagonal entry of row 2 is not positive and finite");
    HostMatrix<Scalar> const nothing{"0 x 0", 0, 0, {0}, {}, {}};
    EXPECT_EQ(make(to_device(exec, nothing))->rows(), 0);
    HostBlock<Scalar> B;
    auto const T = make(to_device(exec, sparse_definite<Scalar>(13, B)));
    auto const other = to_device(exec, sparse_definite<Scalar>(12, B));
    EXPECT_EQ(message_of([&] { T->refresh(exec, other); }),
              where + "made for 13 rows, the matrix has 12");
  }
}

}  // namespace blockspan::test
