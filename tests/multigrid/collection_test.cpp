// Iterations for matrices of the folder of real ones, with the constant as near-null vector. They
// are skipped where the folder is absent.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "multigrid/problems.hpp"
#include "support/matrices.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

struct Known {
  char const* name;
  int iterations;  ///< at most, also with a cycle in single precision (1138_bus: 4 less in double)
  bool laplacian = true;
};

class MultigridCollection : public ::testing::TestWithParam<Known> {};

TEST_P(MultigridCollection, TakesNoMoreIterationsThanKnown) {
  if (!matrix_dir()) GTEST_SKIP() << "no folder of matrices";
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  auto const& known = GetParam();
  auto A = read_matrix_market<double>(exec, matrix_path(known.name));
  if (known.laplacian) A = graph_laplacian<double>(exec, A);
  auto const M = multigrid(exec, A);
  int const count = iterations<double>(exec, A, &M, known.laplacian);
  RecordProperty("iterations", count);
  EXPECT_GT(count, 0) << M.report().table();
  EXPECT_LE(count, known.iterations + 1) << M.report().table();
}

INSTANTIATE_TEST_SUITE_P(Folder, MultigridCollection,
                         ::testing::Values(Known{"delaunay_n15", 8}, Known{"commanche_dual", 9},
                                           Known{"bcspwr10", 10}, Known{"ca-CondMat", 15},
                                           Known{"email-Enron", 14}, Known{"PGPgiantcompo", 17},
                                           Known{"Dubcova1", 39, false},
                                           Known{"1138_bus", 26, false}),
                         [](auto const& one) {
                           std::string name = one.param.name;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace blockspan::test
