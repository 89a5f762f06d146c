// Products with KokkosSparse's BsrMatrix: as with the CrsMatrix that has the same entries.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/sparse/bsr_matrix.hpp>
#include <blockspan/spmm/kernels/groups/groups.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/support/error.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using Row = std::int64_t;

template <class Config>
class BlockMatrices : public ::testing::Test {};
TYPED_TEST_SUITE(BlockMatrices, Configs, ConfigNames);
template <class Exec>
class BlockPlans : public ::testing::Test {};
TYPED_TEST_SUITE(BlockPlans, Backends, ConfigNames);

constexpr int all_sizes[] = {1, 2, 3, 4, 5, 7, 8, 13};

/// Blocks of size x size where `graph` has entries, their values in the order of a BsrMatrix.
template <class Scalar>
struct HostBlocks {
  HostMatrix<Scalar> graph;
  Row size;
  std::vector<Scalar> values;

  HostBlocks(HostMatrix<Scalar> where, Row block) : graph(std::move(where)), size(block) {
    Random random(17);
    values.resize(graph.indices.size() * static_cast<std::size_t>(size * size));
    for (auto& value : values) value = random.value<Scalar>();
  }

  /// Every value on its own.
  HostMatrix<Scalar> expanded() const {
    HostMatrix<Scalar> A{graph.name + ", blocks of " + std::to_string(size),
                         graph.rows * size,
                         graph.columns * size,
                         {0},
                         {},
                         {}};
    for (Row row = 0; row < graph.rows; ++row)
      for (Row i = 0; i < size; ++i) {
        for (Row k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
          for (Row j = 0; j < size; ++j)
            A.add(graph.indices[k] * size + j, values[(k * size + i) * size + j]);
        A.end_row();
      }
    return A;
  }
};

template <class Offset = int, class Scalar, class Exec>
BsrMatrix<Scalar, Exec, Offset> to_device(Exec const& exec, HostBlocks<Scalar> const& blocks) {
  auto const graph = to_device<Offset>(exec, blocks.graph);
  using Matrix = BsrMatrix<Scalar, Exec, Offset>;
  typename Matrix::values_type const values("Blockspan::test", blocks.values.size());
  auto const mirror = Kokkos::create_mirror_view(values);
  for (std::size_t i = 0; i < blocks.values.size(); ++i) mirror(i) = blocks.values[i];
  Kokkos::deep_copy(exec, values, mirror);
  exec.fence("Blockspan::test");
  return Matrix("A", static_cast<int>(blocks.graph.rows), static_cast<int>(blocks.graph.columns),
                static_cast<Offset>(blocks.graph.indices.size()), values, graph.graph.row_map,
                graph.graph.entries, static_cast<int>(blocks.size));
}

/// Small graphs: square, rectangular, with empty rows, with long rows, repeated columns, nothing.
template <class Scalar>
std::vector<HostMatrix<Scalar>> graphs() {
  return {
      random_matrix<Scalar>("0 x n", 0, 9, [](Row) { return 0; }),
      random_matrix<Scalar>("no blocks", 7, 5, [](Row) { return 0; }),
      random_matrix<Scalar>("empty rows", 23, 17, [](Row i) { return i % 3 == 1 ? 6 : 0; }),
      random_matrix<Scalar>("long rows", 9, 30, [](Row i) { return i == 4 ? 150 : i; }),
      band<Scalar>(12),
  };
}

TYPED_TEST(BlockMatrices, AreMultipliedAsTheirEntriesAre) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  int const widths[] = {1, 2, 3, 4, 7, 8, 12, 16, 33};
  Scalar const factors[] = {Scalar(1), Scalar(0), Scalar(-0.75)};
  std::size_t turn = 0;
  for (auto const& graph : graphs<Scalar>())
    for (int const size : all_sizes) {
      HostBlocks<Scalar> const blocks(graph, size);
      auto const host = blocks.expanded();
      auto const A = to_device(exec, blocks);
      SpmmPlan const plan(exec, A);
      SpmmPlan stored(exec, A);
      stored.hold_transpose(exec, A);
      for (Op const op : all_ops)
        for (int repetition = 0; repetition < 4; ++repetition, ++turn) {
          ProductCase<Scalar> const c{host, op, widths[turn % 9], factors[turn / 2 % 3],
                                      factors[turn / 5 % 3]};
          auto const storages = mixed_storages[turn / 3 % 6];
          expect_product(exec, storages, c, [&](auto const& X, auto const& Y) {
            if (repetition == 3)
              spmm(exec, op, c.alpha, A, X, c.beta, Y);
            else
              spmm(exec, repetition == 2 ? stored : plan, op, c.alpha, A, X, c.beta, Y);
          });
        }
    }
}

TYPED_TEST(BlockMatrices, MayHave64BitOffsetsAndAnyLanes) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  int const most = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible ? 1 : 32;
  for (int const size : {2, 3, 4, 6}) {
    HostBlocks<Scalar> const blocks(
        random_matrix<Scalar>("random", 30, 20, [](Row i) { return i % 19; }), size);
    auto const host = blocks.expanded();
    auto const A = to_device<std::size_t>(exec, blocks);
    for (int columns = 1; columns <= most; columns *= 2)
      for (int entries = 1; columns * entries <= most; entries *= 2) {
        SpmmPlan const plan(exec, A, {.lanes = {columns, entries, 0}});
        for (Op const op : {Op::none, Op::adjoint})
          for (int const width : {5, 8}) {
            ProductCase<Scalar> const c{host, op, width, Scalar(2), Scalar(1)};
            expect_spmm(exec, plan, A, c);
          }
      }
  }
}

TYPED_TEST(BlockMatrices, SumProductsWithX) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  HostBlocks<Scalar> const blocks(band<Scalar>(20), 3);
  auto const A = to_device(exec, blocks);
  auto const host = blocks.expanded();
  ProductCase<Scalar> const c{host, Op::none, 6};
  auto const X = make_block(exec, right, c.X()), Y = make_block(exec, right, c.Y());
  Kokkos::View<Scalar*, Exec> const x_dot_y("Blockspan::test", 6);
  Kokkos::View<real_t<Scalar>*, Exec> const y_dot_y("Blockspan::test", 6);
  spmm_dots(exec, SpmmPlan(exec, A), Scalar(1), A, X.view, Scalar(0), Y.view, x_dot_y, y_dot_y);
  auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y_dot_y);
  auto const y = Y.values();
  EXPECT_TRUE(matches(y, reference_product(c.op, c.alpha, host, c.X(), c.beta, c.Y())));
  for (int j = 0; j < 6; ++j) {
    long double sum = 0;
    for (Row i = 0; i < y.rows(); ++i) sum += std::norm(extended(y(i, j)));
    auto const bound = static_cast<long double>(gamma_bound<Scalar>(y.rows() + 2)) * 2 * sum;
    EXPECT_LE(std::abs(static_cast<long double>(squares(j)) - sum), bound);
  }
}

/// A weight for each row, not for each row of blocks.
TYPED_TEST(BlockMatrices, WeighTheirRows) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  HostBlocks<Scalar> const blocks(band<Scalar>(20), 3);
  auto const A = to_device(exec, blocks);
  SpmmPlan const plan(exec, A);
  auto const X = make_block(exec, right, random_block<Scalar>(60, 2, 1));
  auto const Y = make_block(exec, right, random_block<Scalar>(60, 2, 2));
  Kokkos::View<Scalar*, Exec> const x_dot_y("Blockspan::test", 2);
  Kokkos::View<Real*, Exec> const y_dot_y("Blockspan::test", 2), weights("Blockspan::test", 60),
      too_few("Blockspan::test", 20);
  auto const w = Kokkos::create_mirror_view(weights);
  for (int i = 0; i < 60; ++i) w(i) = std::ldexp(Real(1), -(i % 5));
  Kokkos::deep_copy(weights, w);
  spmm_dots(exec, plan, Scalar(1), A, X.view, Scalar(0), Y.view, x_dot_y, y_dot_y, weights);
  auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y_dot_y);
  auto const y = Y.values();
  for (int j = 0; j < 2; ++j) {
    long double sum = 0;
    for (Row i = 0; i < 60; ++i) sum += w(i) * std::norm(extended(y(i, j)));
    auto const bound = static_cast<long double>(gamma_bound<Scalar>(63)) * 2 * sum;
    EXPECT_LE(std::abs(static_cast<long double>(squares(j)) - sum), bound);
  }
  EXPECT_THAT(message_of([&] {
                spmm_dots(exec, plan, Scalar(1), A, X.view, Scalar(0), Y.view, x_dot_y, y_dot_y,
                          too_few);
              }),
              HasSubstr("an entry for each row (20 with stride 1, rows: 60)"));
}

/// The rows of a block have the same columns, so a CrsMatrix of the same entries gets the same
/// groups where a block is one of them, and the same order in every sum.
TYPED_TEST(BlockPlans, HaveTheBitsOfTheSameEntriesWithoutBlocks) {
  TypeParam const exec;
  for (int const size : {2, 3, 4}) {
    HostBlocks<double> const blocks(
        random_matrix<double>("random", 60, 50, [](Row i) { return 1 + i % 13; }), size);
    auto const host = blocks.expanded();
    auto const bits_of = [&](auto const& A, SpmmPlanOptions const& options) {
      auto const X = make_block(exec, right, random_block<double>(host.columns, 16, 1));
      auto const Y = make_block(exec, right, random_block<double>(host.rows, 16, 2));
      for (int repetition = 0; repetition < 2; ++repetition)
        spmm(exec, SpmmPlan(exec, A, options), Op::none, 1.5, A, X.view, 0.0, Y.view);
      exec.fence("Blockspan::test");
      return Y.values();
    };
    SpmmPlanOptions const options{.algorithm = "groups", .lanes = {8, 2, 1}};
    auto const first = bits_of(to_device(exec, blocks), options);
    EXPECT_TRUE(same_bits(first, bits_of(to_device(exec, host), options)));
    EXPECT_TRUE(same_bits(first, bits_of(to_device(exec, blocks), options)));
  }
}

TYPED_TEST(BlockPlans, SayWhatTheySee) {
  TypeParam const exec;
  HostBlocks<double> const blocks(band<double>(40), 3);
  auto const A = to_device(exec, blocks);
  SpmmPlan const plan(exec, A);
  auto const& rows = plan.statistics();
  EXPECT_EQ(rows.rows, 120);
  EXPECT_EQ(rows.columns, 120);
  EXPECT_EQ(rows.nonzeros, static_cast<Row>(blocks.values.size()));
  EXPECT_EQ(rows.longest, 18);
  EXPECT_EQ(plan.algorithm(), "groups");
  EXPECT_EQ(plan.kernel(8), "Blockspan::spmm::groups");
  EXPECT_THAT(plan.explain(8), HasSubstr("the matrix is stored in blocks of 3 x 3"));
  EXPECT_THAT(plan.explain(8), HasSubstr("40 groups of 3 rows on average"));
  EXPECT_TRUE(plan.verify(exec, A));
  auto const message =
      message_of([&] { SpmmPlan const other(exec, A, {.algorithm = "segments"}); });
  EXPECT_THAT(message, HasSubstr("segments takes no blocks (3 x 3): groups does"));
  // with blocks of one number the whole menu serves
  auto const numbers = to_device(exec, HostBlocks<double>(band<double>(40), 1));
  EXPECT_EQ(SpmmPlan(exec, numbers, {.algorithm = "segments"}).algorithm(), "segments");
}

TYPED_TEST(BlockPlans, RefuseWhatDoesNotFit) {
  TypeParam const exec;
  HostBlocks<double> const blocks(band<double>(40), 3);
  auto const A = to_device(exec, blocks);
  using Matrix = decltype(A);
  SpmmPlan const plan(exec, A);
  auto const product = [&](auto const& B, Row rows_of_x, Row rows_of_y) {
    auto const X = make_block(exec, right, random_block<double>(rows_of_x, 2, 1));
    auto const Y = make_block(exec, right, random_block<double>(rows_of_y, 2, 2));
    return message_of([&] { spmm(exec, plan, Op::none, 1.0, B, X.view, 0.0, Y.view); });
  };
  EXPECT_THAT(product(A, 120, 120), HasSubstr("nothing was thrown"));
  EXPECT_THAT(product(A, 40, 120), HasSubstr("op(A): 120 x 120, op none; X: 40 x 2; Y: 120 x 2"));
  EXPECT_THAT(product(to_device(exec, blocks), 120, 120), HasSubstr("in other arrays"));
  std::remove_const_t<Matrix> const halves("A", 40, 40, A.graph.entries.extent(0), A.values,
                                           A.graph.row_map, A.graph.entries, 2);
  EXPECT_THAT(product(halves, 80, 80), HasSubstr("made for blocks of 3 x 3, the matrix has 2 x 2"));
  EXPECT_FALSE(plan.verify(exec, halves));
  std::remove_const_t<Matrix> const huge("A", 40, 40, A.graph.entries.extent(0), A.values,
                                         A.graph.row_map, A.graph.entries, 1 << 26);
  EXPECT_THAT(message_of([&] { SpmmPlan const other(exec, huge); }),
              HasSubstr("are more than can be counted"));
}

TEST(FastDivision, IsExact) {
  for (int const divisor : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 64, 65, 641, 46341, INT32_MAX}) {
    blockspan::support::FastDivision const divide(divisor);
    auto const check = [&](std::int64_t number) {
      if (number < 0 || number > INT32_MAX) return;
      ASSERT_EQ(divide(static_cast<int>(number)), number / divisor) << number << " / " << divisor;
    };
    for (std::int64_t number = 0; number < 5000; ++number) check(number);
    std::int64_t const last = INT32_MAX / divisor;
    for (std::int64_t quotient = 1; quotient <= last; quotient += 1 + last / 4999)
      for (int const around : {-1, 0, 1}) check(quotient * divisor + around);
    for (std::int64_t number = INT32_MAX - std::int64_t{5000}; number <= INT32_MAX; ++number)
      check(number);
  }
}

}  // namespace
}  // namespace blockspan::test
