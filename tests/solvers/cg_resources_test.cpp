// What Kokkos sees of an iteration: allocations, waits, kernels and their instance.
#include <cstdint>
#include <set>
#include <vector>

#include "solvers/cg_solve.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

struct Counts {
  std::size_t allocations, fences, kernels;
};

/// Counts after every iteration of a solve, and all of it in `whole`.
template <class Scalar, class Exec>
std::vector<Counts> observe(Exec const& exec, CgMethod method, bool foreign, int columns,
                            Observation* whole = nullptr) {
  auto const matrix = hermitian_grid<Scalar>(9);
  TestOperator<Scalar, Exec> const A(exec, matrix), M(exec, jacobi_matrix(matrix));
  auto const B = make_block(exec, Storage::right, random_block<Scalar>(matrix.order(), columns, 3));
  auto const X = make_block(exec, Storage::right, HostBlock<Scalar>(matrix.order(), columns));
  std::vector<Counts> seen;
  CgOptions<Scalar, Exec> options;
  options.method = method;
  options.compact = false;
  if (foreign) options.preconditioner = &M;
  options.monitor = [&](auto const&) {
    auto const& now = observed_so_far();
    seen.push_back({now.allocations.size(), now.fences.size(), now.labels.size()});
    return true;
  };
  auto const observation = observed([&] {
    EXPECT_TRUE((solve_spd<Scalar, Exec>(exec, A, B.view, X.view, options).converged()));
  });
  if (whole != nullptr) *whole = observation;
  return seen;
}

template <class Config>
class CgResources : public ::testing::Test {};
TYPED_TEST_SUITE(CgResources, Configs, ConfigNames);

TYPED_TEST(CgResources, AnIterationAllocatesNothingAndWaitsAtMostTwice) {
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block})
    for (bool const foreign : {false, true})
      for (int const columns : {1, 5, 8}) {
        auto const seen = observe<typename TypeParam::Scalar>(exec, method, foreign, columns);
        ASSERT_GT(seen.size(), 6u);
        for (std::size_t i = 2; i < seen.size(); ++i) {
          EXPECT_EQ(seen[i].allocations, seen[1].allocations) << i;
          EXPECT_LE(seen[i].fences - seen[i - 1].fences, method == CgMethod::pseudo_block ? 1u : 2u)
              << i;
        }
      }
}

TYPED_TEST(CgResources, KernelsOfAPseudoBlockIterationAreAsPromised) {
  using Exec = typename TypeParam::Exec;
  for (bool const foreign : {false, true}) {
    auto const seen =
        observe<typename TypeParam::Scalar>(Exec(), CgMethod::pseudo_block, foreign, 8);
    EXPECT_EQ(seen[4].kernels - seen[3].kernels, foreign ? 9u : 6u);
  }
}

TYPED_TEST(CgResources, EverythingRunsOnTheInstanceGiven) {
  using Exec = typename TypeParam::Exec;
  auto const exec = halves(Exec())[1];
  for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block}) {
    Observation whole;
    observe<typename TypeParam::Scalar>(exec, method, true, 4, &whole);
    EXPECT_EQ(whole.devices, std::set<std::uint32_t>{Kokkos::Tools::Experimental::device_id(exec)});
    for (auto const& label : whole.labels) EXPECT_EQ(label.find("Blockspan::"), 0u) << label;
  }
}

}  // namespace
}  // namespace blockspan::test
