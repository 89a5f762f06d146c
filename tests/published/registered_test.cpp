// A kernel of somebody else, in one file: a row of the menu, when it runs and what it costs, and
// what launches it. This program registers it, and plans, products and explanations know it.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/kernel_table.hpp>
#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/launches.hpp"
#include "spmm/product_case.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::products {

/// Rows of square matrices that a thread each multiplies from the last entry to the first.
struct BackwardRows {
  static constexpr std::int64_t most_rows = 64;

  static bool needs(ScalarKind const& scalar, DeviceFacts const&) { return scalar.is_double; }
  /// Unbeatable for few rows, no candidate for more.
  static std::optional<Cost> cost(CostFacts const& A) {
    if (A.rows.rows > most_rows && !A.chosen) return {};
    return Cost{1e-3};
  }

  static constexpr SpmmVariant row{.id = "backward_rows",
                                   .label = "Blockspan::spmm::backward_rows",
                                   .parts = "whole rows, from the last entry to the first",
                                   .source = "a test",
                                   .needs = "double precision",
                                   .loses = "for few rows",
                                   .component = "a test",
                                   .as_it_is = true,
                                   .is_offered = needs,
                                   .cost = cost};

  template <class Scalar>
  struct Kernel {
    int const* offsets;
    int const* columns;
    int const* permutation;  ///< of the values; null: they are in the order of the columns
    Scalar const* values;
    BlockRef<Scalar const> X;
    BlockRef<Scalar> Y;
    Scalar alpha, beta;

    KOKKOS_FUNCTION Scalar value(int k) const {
      return values[permutation == nullptr ? k : permutation[k]];
    }
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      for (std::int64_t j = 0; j < Y.columns; ++j) {
        Scalar sum(0);
        for (int k = offsets[i + 1] - 1; k >= offsets[i]; --k)
          sum += value(k) * X.data[columns[k] * X.row_stride + j * X.column_stride];
        Scalar& y = Y.data[i * Y.row_stride + j * Y.column_stride];
        y = beta == Scalar(0) ? alpha * sum : alpha * sum + beta * y;
      }
    }
  };

  template <class Exec, class Scalar>
  static void launch(SpmmCall<Exec, Scalar, int> const& call, PlanState<Exec, int>&) {
    auto const& [op, alpha, X, beta, Y] = call.product;
    auto const& A = call.prepared.pattern;
    Kokkos::parallel_for(call.variant().label, IndexRange<Exec>(call.exec, 0, A.rows),
                         Kernel<Scalar>{A.row_offsets, A.column_indices, call.prepared.permutation,
                                        call.values, X, Y, alpha, beta});
  }

  template <class Exec, class Scalar>
  static void enter() {
    register_spmm_variant(row);
    kernel_table<Exec, Scalar, int>().add(row, launch<Exec, Scalar>);
  }
};

}  // namespace blockspan::products

namespace blockspan::test {
namespace {

using blockspan::products::BackwardRows;
using ::testing::HasSubstr;

template <class Exec>
class Registered : public ::testing::Test {
 protected:
  Registered() { BackwardRows::enter<Exec, double>(); }
};
TYPED_TEST_SUITE(Registered, Backends, ConfigNames);

TYPED_TEST(Registered, KernelsMultiplyWhereTheyAreAskedFor) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.algorithm = "backward_rows"});
    EXPECT_EQ(plan.kernel(3), "Blockspan::spmm::backward_rows");
    for (Op const op : {Op::none, Op::transpose})
      for (int const width : {1, 5}) {
        ProductCase<double> const c{host, op, width, 1.5, -1.0};
        expect_spmm(exec, plan, A, c, Storages{right, left});
      }
  }
}

TYPED_TEST(Registered, KernelsAreChosenWhereTheirCostIsTheLeast) {
  TypeParam const exec;
  auto const small = to_device(exec, band<double>(40)), large = to_device(exec, band<double>(400));
  SpmmPlan const plan(exec, small);
  EXPECT_EQ(plan.algorithm(), "backward_rows");
  EXPECT_THAT(plan.explain(8), HasSubstr("expected backward_rows 0.001 us, "));
  auto const X = make_block(exec, right, random_block<double>(40, 8, 1));
  auto const Y = make_block(exec, right, random_block<double>(40, 8, 2));
  auto const seen =
      launches_of([&] { spmm(exec, plan, Op::none, 1.0, small, X.view, 0.0, Y.view); });
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].label, BackwardRows::row.label);
  EXPECT_NE(SpmmPlan(exec, large).algorithm(), "backward_rows");
  EXPECT_THAT(SpmmPlan(exec, large).explain(8), HasSubstr("backward_rows: for few rows"));
}

TYPED_TEST(Registered, KernelsAreRefusedByNameWhereTheyAreNot) {
  TypeParam const exec;
  EXPECT_FALSE((blockspan::products::is_offered<TypeParam, float>(BackwardRows::row)));
  static constexpr SpmmVariant same_id{
      .id = "rows", .label = "", .parts = "", .source = "", .needs = "", .loses = ""};
  EXPECT_THAT(message_of([] { register_spmm_variant(same_id); }),
              HasSubstr("there is another kernel with the id rows"));
  static constexpr SpmmVariant no_launch{.id = "no_launch",
                                         .label = "Blockspan::spmm::no_launch",
                                         .parts = "",
                                         .source = "",
                                         .needs = "",
                                         .loses = "",
                                         .component = "elsewhere",
                                         .as_it_is = true};
  register_spmm_variant(no_launch);
  auto const A = to_device(exec, band<double>(400));
  auto const X = make_block(exec, right, random_block<double>(400, 2, 1));
  auto const Y = make_block(exec, right, random_block<double>(400, 2, 2));
  SpmmPlan const plan(exec, A, {.algorithm = "no_launch"});
  EXPECT_THAT(message_of([&] { spmm(exec, plan, Op::none, 1.0, A, X.view, 0.0, Y.view); }),
              HasSubstr("no_launch on " + std::string(TypeParam::name()) +
                        " is a kernel of the component elsewhere, which this program does not"));
}

}  // namespace
}  // namespace blockspan::test
