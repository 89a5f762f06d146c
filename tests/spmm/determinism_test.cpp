#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/detail/multiply_impl.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::detail;

template <class Exec>
class SameBits : public ::testing::Test {};
TYPED_TEST_SUITE(SameBits, Backends, ConfigNames);

HostMatrix<double> uneven() {
  return random_matrix<double>("uneven", 400, 300,
                               [](std::int64_t i) { return i % 50 == 7 ? 2000 : i % 13; });
}

TYPED_TEST(SameBits, InTwentyRuns) {
  TypeParam const exec;
  auto const host = uneven();
  auto const A = to_device(exec, host);
  for (auto const& variant : offered_variants<TypeParam>())
    for (Op const op : {Op::none, Op::transpose}) {
      std::int64_t const rows = op == Op::none ? 400 : 300;
      HostBlock<double> first;
      for (int run = 0; run < 20; ++run) {
        SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .piece_length = 64});
        auto const X = make_block(exec, Storage::right, random_block<double>(700 - rows, 12, 1));
        auto const Y = make_block(exec, Storage::right, random_block<double>(rows, 12, 2));
        spmm(exec, plan, op, 1.5, A, X.view, -0.5, Y.view);
        exec.fence("Blockspan::test");
        auto const values = Y.values();
        if (run == 0) first = values;
        ASSERT_TRUE(same_bits(first, values)) << variant.id << ", run " << run;
      }
    }
}

/// Hosts write a large, aligned Y around the caches; one that is not aligned they do not.
TYPED_TEST(SameBits, InLargeResultsWhereverTheyLie) {
  TypeParam const exec;
  std::int64_t const rows = 300000, columns = 16;
  auto const host = random_matrix<double>("tall", rows, 50, [](std::int64_t i) { return i % 3; });
  auto const A = to_device(exec, host);
  auto const X = make_block(exec, Storage::right, random_block<double>(50, columns, 1));
  HostBlock<double> const nothing(rows, columns, not_a_number<double>());
  auto const Y = make_block(exec, Storage::right, nothing);
  auto const Z = make_block(exec, Storage::padded_right, nothing);
  SpmmPlan const plan(exec, A);
  spmm(exec, plan, Op::none, 1.5, A, X.view, 0.0, Y.view);
  spmm(exec, plan, Op::none, 1.5, A, X.view, 0.0, Z.view);
  exec.fence("Blockspan::test");
  EXPECT_TRUE(same_bits(Y.values(), Z.values()));
  EXPECT_TRUE(Z.surroundings_intact());
}

/// The kernel itself, launched with a shape of the test's choice.
template <class Exec, class Schedule>
HostBlock<double> multiply_with(Exec const& exec, Schedule schedule, std::int64_t per_team,
                                int team_size, HostMatrix<double> const& host) {
  auto const A = to_device(exec, host);
  auto const X = make_block(exec, Storage::right, random_block<double>(host.columns, 8, 1));
  auto const Y = make_block(exec, Storage::right, HostBlock<double>(host.rows, 8));
  using Entries = kernels::PlainEntries<double, int, int>;
  using Epilogue = kernels::ScaleAdd<double, false, kernels::runs_on_host_v<Exec>>;
  Entries const entries{A.graph.entries.data(), A.values.data()};
  kernels::LaunchShape shape{0, team_size, 1};
  schedule.share.per_team = per_team;
  shape.teams = ceil_div(schedule.share.pieces, per_team);
  Epilogue const epilogue{1.0, 0.0, true, false, kernels::block_ref<Exec>(Y.view)};
  auto const x = kernels::block_ref<Exec>(X.const_view());
  if constexpr (kernels::runs_on_host_v<Exec>) {
    using Inner = kernels::DirectRegisters<double, Entries, int, 8, true>;
    kernels::SpmmKernel<Exec, Schedule, Inner, Epilogue>{schedule, {entries, x, false}, epilogue}
        .launch(exec, "Blockspan::spmm::test", shape);
  } else {
    using Inner = kernels::DirectLanes<double, Entries, int, 1, false>;
    shape.vector_length = 8;
    kernels::SpmmKernel<Exec, Schedule, Inner, Epilogue>{
        schedule, {entries, x, false, {3, 0}, 8 * sizeof(double)}, epilogue}
        .launch(exec, "Blockspan::spmm::test", shape);
  }
  exec.fence("Blockspan::test");
  return Y.values();
}

TYPED_TEST(SameBits, WithTeamsOfTwoSizes) {
  using Exec = TypeParam;
  Exec const exec;
  auto const host = uneven();
  auto const A = to_device(exec, host);
  auto const pattern = kernels::pattern_ref<Exec>(A);
  int const larger = kernels::runs_on_host_v<Exec> ? exec.concurrency() : 32;
  int const smaller = kernels::runs_on_host_v<Exec> ? 1 : 4;

  kernels::WholeRows<int> const rows{{pattern.rows, 1}, pattern.row_offsets};
  EXPECT_TRUE(same_bits(multiply_with(exec, rows, 16, smaller, host),
                        multiply_with(exec, rows, 50, larger, host)));

  auto const cuts = kernels::cut_long_rows(exec, pattern, {.longest = 64});
  Kokkos::View<double*, typename Exec::memory_space> const carry("Blockspan::test", cuts.slots * 8);
  Kokkos::View<int*, typename Exec::memory_space> const arrived("Blockspan::test",
                                                                cuts.cut_rows * 8);
  kernels::CutRows<double, int, int> const pieces{
      kernels::carry_of<double>(cuts, 8, {carry.data(), arrived.data()}),
      {cuts.pieces, 1},
      cuts.target.data(),
      cuts.first.data(),
      cuts.last.data()};
  EXPECT_TRUE(same_bits(multiply_with(exec, pieces, 16, smaller, host),
                        multiply_with(exec, pieces, 50, larger, host)));
}

}  // namespace
}  // namespace blockspan::test
