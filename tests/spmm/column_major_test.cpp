// Blocks whose rows are not contiguous: devices read them by columns or by way of copies, hosts by
// way of a copy of X.
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/backend.hpp>

#include "spmm/planned.hpp"
#include "spmm/product_case.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

namespace kernels = blockspan::products;

template <class Config>
class ColumnMajor : public ::testing::Test {};
TYPED_TEST_SUITE(ColumnMajor, Configs, ConfigNames);

/// A lane a row would wait for the long ones.
template <class Scalar>
HostMatrix<Scalar> uneven() {
  return random_matrix<Scalar>("uneven", 20000, 19000,
                               [](std::int64_t i) { return i % 50 == 7 ? 800 : 25; });
}
template <class Scalar>
HostMatrix<Scalar> even() {
  return random_matrix<Scalar>("even", 3001, 2999, [](std::int64_t i) { return 5 + i % 3; });
}

TYPED_TEST(ColumnMajor, EveryWidthAndLayoutIsRight) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  std::vector<HostMatrix<Scalar>> const matrices{even<Scalar>(), uneven<Scalar>()};
  for (auto const& host : matrices) {
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A);
    for (auto const storages : {Storages{left, left}, Storages{padded_left, right},
                                Storages{right, left}, Storages{strided, padded_left}})
      for (int const columns : {2, 7, 17}) {
        if (columns == 17 && host.rows > 10000) continue;  // the reference takes its time
        Scalar const beta = columns == 7 ? Scalar(-2) : Scalar(0);
        ProductCase<Scalar> const c{host, Op::conjugate, columns, Scalar(1.5), beta};
        expect_spmm(exec, plan, A, c, storages);
      }
  }
}

TYPED_TEST(ColumnMajor, TransposedProductsAreRight) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = uneven<Scalar>();
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A);
  ProductCase<Scalar> const c{host, Op::adjoint, 9, Scalar(-1), Scalar(0.5)};
  expect_spmm(exec, plan, A, c, {left, left});
}

/// What ran, and what it allocated, in the second product of a plan.
template <class Exec, class Scalar>
Observation second_product(Exec const& exec, HostMatrix<Scalar> const& host, std::int64_t columns) {
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A);
  ProductCase<Scalar> const c{host, Op::none, columns};
  auto const X = make_block(exec, left, c.X());
  auto const Y = make_block(exec, left, c.Y());
  auto const multiply = [&] { spmm(exec, plan, c.op, c.alpha, A, X.const_view(), c.beta, Y.view); };
  multiply();
  return observed(multiply);
}

TYPED_TEST(ColumnMajor, TheFastestAccessRunsAndAllocatesOnce) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::on_cuda_v<Exec>) GTEST_SKIP() << "needs CUDA";
  Exec const exec;
  auto const by_columns = second_product(exec, band<Scalar>(40001), 4);
  EXPECT_THAT(by_columns.labels, ElementsAre("Blockspan::spmm::single_columns"));
  auto const staged = second_product(exec, band<Scalar>(40001), 20);
  EXPECT_THAT(staged.labels, ElementsAre("Blockspan::spmm::single_columns::staged"));
  auto const scattered = random_matrix<Scalar>("many even rows", 40001, 39999,
                                               [](std::int64_t i) { return 5 + i % 3; });
  EXPECT_THAT(second_product(exec, scattered, 32).labels, Contains(EndsWith("::pack")));
  auto const by_copies = second_product(exec, uneven<Scalar>(), 16);
  EXPECT_THAT(by_copies.labels, Contains(EndsWith("::pack")));
  EXPECT_THAT(by_copies.labels, Contains(EndsWith("::unpack")));
  EXPECT_THAT(by_copies.allocations, IsEmpty());
}

/// More columns than a lane owns at a time: teams keep the entries of their rows in scratch. The
/// rows are no whole number of teams, and of so many that columns have 16 bits, and of fewer.
TYPED_TEST(ColumnMajor, ManyColumnsByWayOfScratchAreRight) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  constexpr bool on_cuda = kernels::on_cuda_v<Exec>;
  for (std::int64_t const rows : {on_cuda ? 90001 : 1001, on_cuda ? 40001 : 127}) {
    auto const host = band<Scalar>(rows);
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A);
    for (auto const storages :
         {Storages{left, left}, Storages{padded_left, right}, Storages{left, strided}})
      for (int const columns : {17, 33}) {
        Scalar const beta = columns == 33 ? Scalar(-2) : Scalar(0);
        ProductCase<Scalar> const c{host, Op::conjugate, columns, Scalar(1.5), beta};
        auto const seen = observed([&] { expect_spmm(exec, plan, A, c, storages); });
        if (on_cuda) {
          EXPECT_THAT(seen.labels, Contains("Blockspan::spmm::single_columns::staged"));
        }
      }
  }
}

/// `diagonal`: as on grids, the columns of a row are those of the row before, one further.
RowStatistics statistics(std::int64_t rows, std::int64_t row, double imbalance, bool diagonal) {
  RowStatistics of;
  of.rows = of.columns = rows;
  of.nonzeros = rows * row;
  of.shortest = row, of.longest = row;
  of.group_work = static_cast<std::int64_t>(static_cast<double>(of.nonzeros) * imbalance);
  if (diagonal) of.diagonal_groups = ceil_div(rows, std::int64_t{RowStatistics::group_size});
  return of;
}

/// How column-major blocks of doubles are served by a plan that chose this variant.
enum class Access { strided, by_columns, by_copies };

Access access(RowStatistics const& rows, char const* id, int columns, bool in_order = true) {
  kernels::SpmmChoice choice{};
  choice.variant = find_spmm_variant(id);
  choice.segment = 512;
  kernels::PatternFacts A;
  A.rows = rows;
  A.groups = {rows.rows / 3, rows.nonzeros / 3};
  A.is_permuted = !in_order;
  auto const decision = kernels::decide(A, choice, blocks(columns, f64, true), devices::h200);
  auto const form = decision.first().form;
  if (form == kernels::LaunchForm::lane_a_row || form == kernels::LaunchForm::staged_columns)
    return Access::by_columns;
  return decision.x == kernels::BlockCopy::none ? Access::strided : Access::by_copies;
}

TEST(ColumnMajorModel, ChoosesWhatWasFastest) {
  using enum Access;
  auto const grid7 = statistics(2097152, 7, 1.0, true), grid27 = statistics(884736, 26, 1.0, true);
  auto const elastic = statistics(255552, 77, 1.0, false),
             graph = statistics(262144, 16, 4.0, false);
  for (int const columns : {4, 8, 16, 32, 64}) {
    EXPECT_EQ(access(grid7, "rows", columns), by_columns) << columns;
    EXPECT_EQ(access(grid27, "rows", columns), by_columns) << columns;
    EXPECT_EQ(access(elastic, "groups", columns), by_copies) << columns;
    EXPECT_EQ(access(graph, "segments_sorted", columns), by_copies) << columns;
  }
  EXPECT_EQ(access(statistics(8192, 109, 1.05, false), "rows", 8), by_copies);
  // a mesh of 62,000 points: 57.9 microseconds by columns, 15.3 row-major
  EXPECT_EQ(access(statistics(62032, 4, 1.0, false), "rows", 32), by_copies);
  EXPECT_EQ(access(elastic, "windows", 8), by_copies);
  EXPECT_EQ(access(elastic, "groups", 16, false), by_copies);
  EXPECT_EQ(access(statistics(4000000, 1, 3.0, false), "nonempty_rows", 64), by_columns);
  EXPECT_EQ(access(statistics(100, 5, 1.0, false), "rows", 8, false), strided);
}

TEST(ColumnMajorModel, ScratchHoldsTheRowsOfATeam) {
  auto const grid27 = statistics(884736, 27, 1.0, true), band65 = statistics(884736, 65, 1.0, true);
  EXPECT_TRUE(kernels::stages_columns(grid27, 9, 8, 12));
  EXPECT_FALSE(kernels::stages_columns(grid27, 8, 8, 12));  // one pass: nothing is read again
  EXPECT_FALSE(kernels::stages_columns(grid27, 9, 16, 20));
  EXPECT_FALSE(kernels::stages_columns(band65, 32, 8, 12));
}

}  // namespace
}  // namespace blockspan::test
