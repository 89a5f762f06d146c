// Real matrices, read by all ranks: the reference eigenvalues within the bounds that are certified.
#include "solvers/truth.hpp"

#include <cmath>
#include <string>

#include <blockspan/distributed/read_distributed.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/ranks.hpp"

namespace blockspan::test {
namespace {

class TruthOnRanks : public ::testing::TestWithParam<char const*> {};

TEST_P(TruthOnRanks, IsFoundWithinTheBounds) {
  Exec const exec;
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  auto const truth = find_truth(*folder, GetParam());
  auto const read = [&](std::string const& name, RowPartition const* like = nullptr) {
    note_matrix_read(name);
    return read_distributed<double>(exec, world(), *folder + "/" + name + ".mtx.gz", like);
  };
  auto const K = read(truth.matrix);
  auto const A = distributed_operator(exec, K);
  std::optional<DistributedOperator<double, Exec>> B;
  if (!truth.mass.empty()) B.emplace(distributed_operator(exec, read(truth.mass, &K->partition())));
  auto const T = jacobi(exec, K->diagonal_block(exec));
  int const wanted = static_cast<int>(truth.eigenvalues.size());
  Block<double, Exec> const X("X", static_cast<std::size_t>(A.rows()),
                              static_cast<std::size_t>(wanted + 5));
  LobpcgOptions<double, Exec> options;
  options.wanted = wanted;
  options.certify = true;
  if (truth.which == "largest")
    options.which = Which::largest;
  else
    options.preconditioner = &T;
  auto const report = B ? lobpcg(exec, A, *B, X, options) : lobpcg(exec, A, X, options);
  ASSERT_TRUE(report.converged()) << to_string(report.status);
  for (std::size_t j = 0; j < truth.eigenvalues.size(); ++j) {
    double const expected = truth.eigenvalues[j];
    EXPECT_LE(std::abs(report.eigenvalues[j] - expected),
              report.error_bounds[j] + 50 * truth.attainable[j] * std::abs(expected))
        << j;
    EXPECT_LE(report.error_bounds[j], 1e-2 * std::abs(expected)) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Short, TruthOnRanks,
                         ::testing::Values("std:nos3 smallest", "std:bcsstk08 smallest",
                                           "std:gr_30_30 largest", "gen:bcsstk09/bcsstm09 smallest",
                                           "gen:bcsstk21/bcsstm21 smallest"));

}  // namespace
}  // namespace blockspan::test
