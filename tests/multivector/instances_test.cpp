#include <set>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "multivector/references.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"

// What Kokkos itself sees of this room's calls.

namespace blockspan::test {

namespace tools = Kokkos::Tools::Experimental;

template <class Config>
class Multivector : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  using R = real_t<S>;

  E exec = Kokkos::Experimental::partition_space(E(), 1)[0];
  Workspace<E> workspace;
  HostBlock<S> x = random_block<S>(3000, 10, 1), y = random_block<S>(3000, 6, 2);
  TestBlock<S, E> X{exec, Storage::right, x}, Y{exec, Storage::left, y}, Z{exec, Storage::right, y};
  SmallMatrix<S> C = small_matrix<Kokkos::LayoutLeft, Kokkos::HostSpace>(random_block<S>(10, 6, 3));
  SmallMatrix<S> G{"Blockspan::test", 10, 6};
  Kokkos::View<R*, Kokkos::HostSpace> norms{"Blockspan::test", 6};
  Kokkos::View<S*, Kokkos::HostSpace> dots{"Blockspan::test", 6};

  /// Everything this room offers, once.
  void call_all() {
    fill_random(exec, Z.view, 1);
    gram(exec, X.view, Y.view, G, workspace);
    combine(exec, S(1), X.view, C, S(2), Z.view, workspace);
    combine_in_place(exec, X.view, C, workspace);
    column_norms(exec, Y.view, norms, workspace);
    column_dots(exec, Y.view, Z.view, dots, workspace);
    scale_columns(exec, norms, Y.view);
    copy_columns(exec, X.view, {3, 1, 4, 1, 5, 9}, Z.view);
    project_out(exec, Y.view, Y.view, X.view, workspace);
    orthonormalize(exec, Y.view, workspace);
    orthonormalize(exec, X.view, X.view, workspace);
    exec.fence();
  }
};

TYPED_TEST_SUITE(Multivector, Configs, ConfigNames);

TYPED_TEST(Multivector, AllocatesNothingInASecondPass) {
  this->call_all();
  auto const second = observed([this] { this->call_all(); });
  EXPECT_FALSE(second.labels.empty());
  EXPECT_TRUE(second.allocations.empty())
      << second.allocations.size() << " allocations, the first is " << second.allocations.front();
}

TYPED_TEST(Multivector, LabelsEveryKernelAndRunsItOnTheInstanceGiven) {
  auto const all = observed([this] { this->call_all(); });
  EXPECT_GE(all.labels.size(), 15u);
  for (auto const& label : all.labels) EXPECT_TRUE(label.starts_with("Blockspan::")) << label;
  EXPECT_EQ(all.devices, std::set{tools::device_id(this->exec)});
}

TYPED_TEST(Multivector, WorkspaceGrowsOnceAndKeepsItsMemory) {
  Workspace<typename TypeParam::Exec> fresh;
  auto const allocations_for = [&](std::int64_t count) {
    return observed([&] { fresh.template device<double>(this->exec, fresh.product, count); })
        .allocations.size();
  };
  EXPECT_EQ(allocations_for(100), 1u);
  EXPECT_EQ(allocations_for(50), 0u);
  EXPECT_EQ(allocations_for(1000), 1u);
}

}  // namespace blockspan::test
