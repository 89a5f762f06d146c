// Public options are made by designated initializers. A member without an initializer would warn
// in the code of users, which g++ says with -Wextra: this file does not compile then.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"

#include <gtest/gtest.h>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class PublicOptions : public ::testing::Test {};
TYPED_TEST_SUITE(PublicOptions, Backends);

TYPED_TEST(PublicOptions, OfSolversTakeDesignatedInitializers) {
  CgOptions<double, TypeParam> const cg{.method = CgMethod::block};
  LobpcgOptions<double, TypeParam> const pairs{.wanted = 3};
  ExactOptions const exact{.pairs = 3};
  EXPECT_EQ(cg.method, CgMethod::block);
  EXPECT_TRUE(cg.tolerances.empty() && cg.absolute_tolerances.empty());
  EXPECT_EQ(pairs.wanted, exact.pairs);
}

TYPED_TEST(PublicOptions, OfOperatorsAndMatricesTakeDesignatedInitializers) {
  MultigridOptions<double, TypeParam> const multigrid{.block_size = 3};
  PencilOptions const pencil{.columns = 3};
  EXPECT_EQ(multigrid.block_size, pencil.columns);
}

}  // namespace
}  // namespace blockspan::test

#pragma GCC diagnostic pop
