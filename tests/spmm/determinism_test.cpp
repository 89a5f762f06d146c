#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <blockspan/spmm/layouts/cut_rows.hpp>
#include <blockspan/spmm/run/multiply_impl.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Exec>
class SameBits : public ::testing::Test {};
TYPED_TEST_SUITE(SameBits, Backends, ConfigNames);

HostMatrix<double> uneven() {
  return random_matrix<double>("uneven", 400, 300,
                               [](std::int64_t i) { return i % 50 == 7 ? 2000 : i % 13; });
}

HostMatrix<double> with_rows_sorted(HostMatrix<double> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    std::sort(A.indices.begin() + A.offsets[i], A.indices.begin() + A.offsets[i + 1]);
  return A;
}

/// Three neighbouring rows have the same 24 columns: enough of them that plans on devices go by
/// groups or windows of rows.
HostMatrix<double> nodes(std::int64_t count) {
  return with_rows_sorted(shared_columns<double>(
      "nodes", count, 2000, [](auto) { return 3; }, [](auto) { return 24; }));
}

/// A place in twelve has an entry: rows share tiles of X.
HostMatrix<double> full_rows(std::int64_t rows) {
  return with_rows_sorted(
      random_matrix<double>("full rows", rows, 900, [](std::int64_t i) { return 70 + i % 11; }));
}

/// A product that is repeated, each time with a plan and with blocks of its own.
struct Repeated {
  SpmmPlanOptions options = {};
  Op op = Op::none;
  std::int64_t columns = 12;
  Storage storage = Storage::right;
  bool stored = false;  ///< the plan keeps the transpose
};

template <class Exec, class Matrix>
HostBlock<double> multiply(Exec const& exec, Matrix const& A, Repeated const& c) {
  auto const [m, k] =
      transposes(c.op) ? std::pair(A.numCols(), A.numRows()) : std::pair(A.numRows(), A.numCols());
  SpmmPlan plan(exec, A, c.options);
  if (c.stored) plan.hold_transpose(exec, A);
  auto const X = make_block(exec, c.storage, random_block<double>(k, c.columns, 1));
  auto const Y = make_block(exec, c.storage, random_block<double>(m, c.columns, 2));
  spmm(exec, plan, c.op, 1.5, A, X.view, -0.5, Y.view);
  exec.fence("Blockspan::test");
  return Y.values();
}

template <class Exec, class Matrix>
void expect_same_bits(Exec const& exec, Matrix const& A, Repeated const& c) {
  auto const first = multiply(exec, A, c);
  for (int run = 1; run < 20; ++run)
    ASSERT_TRUE(same_bits(first, multiply(exec, A, c)))
        << c.options.algorithm << ", " << to_string(c.op) << ", " << c.columns << " columns, "
        << to_string(c.storage) << ", run " << run;
}

TYPED_TEST(SameBits, InTwentyRuns) {
  TypeParam const exec;
  auto const unsorted = to_device(exec, uneven()), sorted = to_device(exec, nodes(150));
  for (auto const& variant : offered_variants<TypeParam>())
    for (Op const op : {Op::none, Op::transpose}) {
      SpmmPlanOptions const options{.algorithm = std::string(variant.id), .segment_length = 64};
      expect_same_bits(exec, unsorted, {options, op});
      expect_same_bits(exec, sorted, {options, op});
    }
}

/// Widths of one, two and four panels that a team takes at once, and what is left of one.
TYPED_TEST(SameBits, InTwentyRunsOfStagedTiles) {
  TypeParam const exec;
  auto const A = to_device(exec, full_rows(2000));
  for (int const columns : {16, 32, 64, 40})
    expect_same_bits(exec, A, {{.algorithm = "shared_tiles"}, Op::none, columns});
  expect_same_bits(exec, A, {{.algorithm = "shared_tiles"}, Op::transpose, 16});
}

/// On devices by columns, or by way of copies: of X alone where windows write Y.
TYPED_TEST(SameBits, InTwentyRunsOfColumnMajorBlocks) {
  TypeParam const exec;
  for (auto const& host : {uneven(), nodes(4400), band<double>(9000)}) {
    auto const A = to_device(exec, host);
    for (Op const op : {Op::none, Op::transpose})
      expect_same_bits(exec, A, {{}, op, 12, Storage::left});
  }
  // so many that plans for 16 columns take staged tiles
  auto const full = to_device(exec, full_rows(6200));
  expect_same_bits(exec, full, {{.columns = 16}, Op::none, 16, Storage::left});
}

TYPED_TEST(SameBits, InTwentyRunsOfHeldValues) {
  TypeParam const exec;
  auto const unsorted = to_device(exec, uneven()), sorted = to_device(exec, nodes(150));
  for (auto const& variant : offered_variants<TypeParam>()) {
    if (!variant.by_rows && !variant.lists_groups() && !variant.lists_windows()) continue;
    for (Op const op : {Op::none, Op::transpose}) {
      SpmmPlanOptions const options{.algorithm = std::string(variant.id), .segment_length = 64};
      expect_same_bits(exec, unsorted, {options, op, 12, Storage::right, true});
      expect_same_bits(exec, sorted, {options, op, 12, Storage::right, true});
    }
  }
}

/// Large enough that devices read the columns in 16 bits.
TYPED_TEST(SameBits, InTwentyRunsOfNarrowColumns) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(90000));
  SpmmPlan const plan(exec, A);
  EXPECT_EQ(plan.explain(4).find("in 16 bits") != std::string::npos, !on_host_v<TypeParam>);
  for (auto const* const algorithm : {"auto", "single_columns"})
    expect_same_bits(exec, A, {{.algorithm = algorithm}, Op::none, 4});
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
  using Entries = kernels::PlainEntries<double, int>;
  using Epilogue = kernels::ScaleAdd<double, false, kernels::runs_on_host_v<Exec>>;
  Entries const entries{A.graph.entries.data(), A.values.data()};
  kernels::LaunchShape shape{0, team_size, 1};
  schedule.share.per_team = per_team;
  shape.teams = ceil_div(schedule.share.segments, per_team);
  Epilogue const epilogue{1.0, 0.0, true, false, kernels::block_ref<Exec>(Y.view)};
  auto const x = kernels::block_ref<Exec>(X.const_view());
  if constexpr (kernels::runs_on_host_v<Exec>) {
    using Inner = kernels::DirectRegisters<double, Entries, 8, true>;
    kernels::launch_kernel(exec, "Blockspan::spmm::test", shape, schedule, Inner{entries, x, false},
                           epilogue);
  } else {
    using Inner = kernels::DirectLanes<double, Entries, 1, false>;
    shape.vector_length = 8;
    kernels::launch_kernel(exec, "Blockspan::spmm::test", shape, schedule,
                           Inner{entries, x, false, {3, 0}, 8 * sizeof(double)}, epilogue);
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

  kernels::WholeRows<> const rows{{pattern.rows, 1}, pattern.row_offsets};
  EXPECT_TRUE(same_bits(multiply_with(exec, rows, 16, smaller, host),
                        multiply_with(exec, rows, 50, larger, host)));

  auto const cuts = kernels::cut_long_rows(exec, pattern, {.longest = 64});
  Kokkos::View<double*, typename Exec::memory_space> const carry("Blockspan::test", cuts.slots * 8);
  Kokkos::View<int*, typename Exec::memory_space> const arrived("Blockspan::test",
                                                                cuts.cut_rows * 8);
  kernels::CutRows<double, int> const cut{
      kernels::carry_of<double>(cuts, 8, {carry.data(), arrived.data()}),
      {cuts.segments, 1},
      cuts.target.data(),
      cuts.first.data(),
      cuts.last.data()};
  EXPECT_TRUE(same_bits(multiply_with(exec, cut, 16, smaller, host),
                        multiply_with(exec, cut, 50, larger, host)));
}

}  // namespace
}  // namespace blockspan::test
