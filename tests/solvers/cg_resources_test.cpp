// What Kokkos sees of an iteration: allocations, waits, kernels and their instance.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "solvers/cg_solve.hpp"

namespace blockspan::test {
namespace {

namespace tools = Kokkos::Tools::Experimental;

struct Counts {
  int allocations = 0, fences = 0, kernels = 0;
};
Counts now;
std::set<std::uint32_t> instances;
std::vector<std::string> labels;

void note_kernel(char const* label, std::uint32_t instance, std::uint64_t*) {
  ++now.kernels;
  instances.insert(instance);
  labels.emplace_back(label);
}
/// Kokkos itself fences around kernels as soon as a tool listens.
void note_fence(char const* label, std::uint32_t, std::uint64_t*) {
  if (std::string(label).find("Kokkos Profile Tool Fence") == std::string::npos) ++now.fences;
}
/// Kokkos reports its team scratch on CUDA as an allocation of no bytes at every launch.
void note_allocation(Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t bytes) {
  if (bytes > 0) ++now.allocations;
}

/// Counts after every iteration of a solve.
template <class Scalar, class Exec>
std::vector<Counts> observe(Exec const& exec, CgMethod method, bool foreign, int columns) {
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
    seen.push_back(now);
    return true;
  };
  auto const before = tools::get_callbacks();
  tools::pause_tools();
  now = {};
  instances.clear();
  labels.clear();
  tools::set_begin_parallel_for_callback(note_kernel);
  tools::set_begin_parallel_reduce_callback(note_kernel);
  tools::set_begin_parallel_scan_callback(note_kernel);
  tools::set_begin_fence_callback(note_fence);
  tools::set_allocate_data_callback(note_allocation);
  auto const report = solve_spd<Scalar, Exec>(exec, A, B.view, X.view, options);
  tools::set_callbacks(before);
  EXPECT_TRUE(report.converged());
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
          EXPECT_LE(seen[i].fences - seen[i - 1].fences, method == CgMethod::pseudo_block ? 1 : 2)
              << i;
        }
      }
}

TYPED_TEST(CgResources, KernelsOfAPseudoBlockIterationAreAsPromised) {
  using Exec = typename TypeParam::Exec;
  for (bool const foreign : {false, true}) {
    auto const seen =
        observe<typename TypeParam::Scalar>(Exec(), CgMethod::pseudo_block, foreign, 8);
    EXPECT_EQ(seen[4].kernels - seen[3].kernels, foreign ? 9 : 6);
  }
}

TYPED_TEST(CgResources, EverythingRunsOnTheInstanceGiven) {
  using Exec = typename TypeParam::Exec;
  auto const exec = Kokkos::Experimental::partition_space(Exec(), 1, 1)[1];
  for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block}) {
    observe<typename TypeParam::Scalar>(exec, method, true, 4);
    EXPECT_EQ(instances, std::set<std::uint32_t>{tools::device_id(exec)});
    for (auto const& label : labels) EXPECT_EQ(label.find("Blockspan::"), 0u) << label;
  }
}

}  // namespace
}  // namespace blockspan::test
