// The last level inverted where the setup computes.
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <blockspan/multigrid/coarsest/invert_by_blocks.hpp>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/extended.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class MultigridInverse : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridInverse, Backends, ConfigNames);

/// Hermitian, with the diagonal 1 + the sum of a row's magnitudes, times scales over six decades.
template <class Scalar>
HostMatrix<Scalar> definite(std::int64_t n, real_t<Scalar> shift) {
  HostBlock<Scalar> B = random_block<Scalar>(n, n, 5);
  HostMatrix<Scalar> A{"definite", n, n, {0}, {}, {}};
  auto const scale = [](std::int64_t i) { return std::pow(10.0, static_cast<double>(i % 7) - 3); };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i != j && (i * j) % 3 == 1) continue;
      Scalar const b = i < j ? B(i, j) : blockspan::conjugate(B(j, i));
      A.add(j, (i == j ? Scalar(static_cast<double>(n) + shift) : b) * (scale(i) * scale(j)));
    }
    A.end_row();
  }
  return A;
}

template <class Scalar, class Exec>
void expect_inverse(Exec const& exec, std::int64_t n) {
  auto const host = definite<Scalar>(n, 1);
  auto const A = to_device(exec, host);
  blockspan::support::Arena<Exec> arena("Blockspan::test");
  auto const X = blockspan::support::kept_array<Scalar>(exec, arena, n * n);
  auto const ref = blockspan::sparse::matrix_ref<Exec>(A);
  blockspan::levels::BlockInverse<Scalar, Exec> inverse(exec, arena, static_cast<int>(n));
  ASSERT_TRUE(inverse.run(ref, 1e-8, X)) << n;
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  auto const at = [&](std::int64_t i, std::int64_t j) {
    return extended(x(static_cast<std::size_t>(i * n + j)));
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_EQ(at(i, j), conjugate(at(j, i)));
      extended_t<Scalar> sum(0);
      long double size = 0;
      for (auto k = host.offsets[std::size_t(i)]; k < host.offsets[std::size_t(i) + 1]; ++k) {
        auto const a = extended(host.values[std::size_t(k)]);
        sum += a * at(host.indices[std::size_t(k)], j);
        size += std::abs(a) * std::abs(at(host.indices[std::size_t(k)], j));
      }
      // conditions of scaled matrices are below 3
      EXPECT_LE(std::abs(sum - extended_t<Scalar>(i == j ? 1 : 0)), 1e-13L * (1 + size))
          << n << ": " << i << ", " << j;
    }
}

TYPED_TEST(MultigridInverse, TimesTheMatrixIsTheIdentity) {
  TypeParam const exec;
  for (std::int64_t const n : {1, 2, 31, 32, 33, 64, 101}) {
    expect_inverse<double>(exec, n);
    expect_inverse<Kokkos::complex<double>>(exec, n);
  }
}

TYPED_TEST(MultigridInverse, SaysWhereAMatrixIsNotDefinite) {
  TypeParam const exec;
  std::int64_t const n = 40;
  for (double const shift : {-2.0 * n, -n + 1e-9, std::nan("")}) {
    auto const host = definite<double>(n, shift);
    auto const A = to_device(exec, host);
    blockspan::support::Arena<TypeParam> arena("Blockspan::test");
    auto const X = blockspan::support::kept_array<double>(exec, arena, n * n);
    blockspan::levels::BlockInverse<double, TypeParam> inverse(exec, arena, static_cast<int>(n));
    EXPECT_FALSE(inverse.run(blockspan::sparse::matrix_ref<TypeParam>(A), 1e-8, X)) << shift;
  }
}

}  // namespace
}  // namespace blockspan::test
