// Blockspan's product against that of Kokkos Kernels.
#include <blockspan/operators/kokkos_kernels_operator.hpp>

#include "operators/peers.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class KokkosKernelsOperator : public ::testing::Test {};
TYPED_TEST_SUITE(KokkosKernelsOperator, Configs, ConfigNames);

TYPED_TEST(KokkosKernelsOperator, Agrees) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  if constexpr (blockspan::operators::has_kokkos_kernels_operator_v<Scalar>)
    expect_agreement<Scalar>(exec, [&](auto const& A) { return kokkos_kernels_operator(exec, A); });
  else
    EXPECT_THROW(kokkos_kernels_operator(exec, to_device(exec, band<Scalar>(5))), Error);
}

}  // namespace
}  // namespace blockspan::test
