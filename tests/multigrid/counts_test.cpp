// Iterations that the choices of the method were made for. They hardly grow with the mesh.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/multigrid/cycle/probe.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/support/backend.hpp>

#include "multigrid/problems.hpp"
#include "operators/chebyshev.hpp"
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

/// A cycle that leaves few iterations leaves a block nothing to save: columns go by themselves.
TYPED_TEST(MultigridCounts, OfColumnsByThemselvesAndAsABlockAreTheSame) {
  TypeParam const exec;
  auto const A = generate<double>(exec, "laplace7:24");
  auto const op = matrix_operator(exec, A, 8);
  auto const M = multigrid(exec, A);
  auto const rows = static_cast<std::size_t>(A.numRows());
  Block<double, TypeParam> const B("B", rows, 8);
  fill_random(exec, B, 5);
  auto const solve = [&](CgMethod method, LinearOperator<double, TypeParam> const* by) {
    Block<double, TypeParam> const X("X", rows, 8);
    CgOptions<double, TypeParam> options;
    options.preconditioner = by;
    options.method = method;
    auto const report = solve_spd(exec, op, B, X, options);
    EXPECT_TRUE(report.converged());
    return report;
  };
  auto const chosen = solve(CgMethod::automatic, &M), block = solve(CgMethod::block, &M);
  EXPECT_EQ(chosen.method, "pseudo_block") << chosen.reason;
  EXPECT_EQ(block.method, "block");
  EXPECT_LE(chosen.iterations, block.iterations + 1);
  auto const D = jacobi(exec, A);
  bool const small = !support::runs_on_host_v<TypeParam>;  // for a device
  EXPECT_EQ(solve(CgMethod::automatic, &D).method, small ? "pseudo_block" : "block");
}

/// The diagonal operator of n rows whose entries are in [0.8, 1], but for the first one.
template <class Exec>
JacobiPreconditioner<double, Exec> diagonal(Exec const& exec, int n, double first) {
  Kokkos::View<double*, typename Exec::memory_space> const entries("Blockspan::test", n);
  auto const host = Kokkos::create_mirror_view(entries);
  for (int i = 0; i < n; ++i) host(i) = i == 0 ? first : 0.8 + 0.2 * (i % 97) / 96;
  Kokkos::deep_copy(exec, entries, host);
  exec.fence("Blockspan::test");
  return JacobiPreconditioner<double, Exec>(entries);
}

TYPED_TEST(MultigridCounts, TheProbeStopsOnceRandomErrorsAreGone) {
  TypeParam const exec;
  int const n = 2000;
  JacobiPreconditioner<double, TypeParam> const identity(constant_weights<double, TypeParam>(n));
  auto const probe = [&](double first) {
    CountedOperator<double, TypeParam> const M(identity);
    auto const seen =
        levels::OperatorProbe<double, TypeParam>(exec, diagonal(exec, n, first), M, 1).run();
    return std::pair(seen, M.products);
  };
  // (sqrt(1.25) - 1) / (sqrt(1.25) + 1) = 1 / 18 a step: below 3^-8 after four
  auto const [good, few] = probe(0.9);
  EXPECT_GE(good.smallest, 0.8 * (1 - 1e-14));
  EXPECT_LE(good.largest, 1 + 1e-14);
  EXPECT_LE(few, 5);
  EXPECT_GT(few, 2);
  // one row of 2,000 is 0.02 of a random error
  auto const [fair, all] = probe(0.2);
  EXPECT_GE(fair.smallest, 0.2 * (1 - 1e-14));
  EXPECT_LT(fair.smallest, 0.25);
  EXPECT_EQ(all, 8);
}

TYPED_TEST(MultigridCounts, BoundsOfSpectraAreAboveThem) {
  TypeParam const exec;
  for (std::string const spec : {"laplace7:30", "laplace27:22", "aniso7:24:1,0.01,0.0001", "p1:24",
                                 "jump7:30:1000:width=5", "elasticity:10"}) {
    auto const M = multigrid(exec, generate<double>(exec, spec));
    for (auto const& level : M.hierarchy().levels) {
      if (!level.op) continue;  // it is inverted
      auto const& of = level.spectrum;
      EXPECT_GE(of.upper, estimate_spectrum(exec, *level.op, of.factors, 60, 3).largest) << spec;
    }
  }
}

}  // namespace
}  // namespace blockspan::test
