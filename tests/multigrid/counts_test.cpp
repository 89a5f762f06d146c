// Iterations that the choices of the method were made for. They hardly grow with the mesh.
#include <string>

#include <gtest/gtest.h>

#include "multigrid/problems.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class MultigridCounts : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridCounts, Backends, ConfigNames);

struct Count {
  char const* spec;
  int iterations;
};

TYPED_TEST(MultigridCounts, OfGrids) {
  TypeParam const exec;
  for (auto const& [spec, wanted] : {Count{"laplace7:22", 8},
                                     {"laplace7:40", 8},
                                     {"laplace27:22", 7},
                                     {"laplace5:100", 10},
                                     {"aniso7:24:1,0.01,0.0001", 12},
                                     {"jump7:40:1000:width=5", 10}}) {
    auto const A = generate<double>(exec, std::string(spec));
    auto const M = multigrid(exec, A);
    EXPECT_LE(iterations<double>(exec, A, &M), wanted + 1) << spec << "\n" << M.report().table();
    EXPECT_GT(iterations<double>(exec, A, &M), 0) << spec;
    EXPECT_EQ(M.report().status, MultigridStatus::good)
        << spec << ": " << M.report().smallest << " " << M.report().message;
  }
}

TYPED_TEST(MultigridCounts, OfElasticityWithRigidBodies) {
  TypeParam const exec;
  for (auto const& [N, wanted] : {std::pair(8, 9), {12, 10}}) {
    auto const A = generate<double>(exec, "elasticity:" + std::to_string(N));
    auto const M = multigrid(exec, A, {.coordinates = brick_nodes<double>(exec, N)});
    int const count = iterations<double>(exec, A, &M);
    EXPECT_GT(count, 0) << N;
    EXPECT_LE(count, wanted + 1) << N << "\n" << M.report().table();
    EXPECT_EQ(M.report().status, MultigridStatus::good) << M.report().smallest;
  }
}

}  // namespace
}  // namespace blockspan::test
