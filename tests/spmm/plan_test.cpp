#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <class Exec>
class Plan : public ::testing::Test {};
TYPED_TEST_SUITE(Plan, Backends, ConfigNames);

TYPED_TEST(Plan, CountsRows) {
  TypeParam const exec;
  auto const A = to_device(
      exec, random_matrix<double>("lengths", 10, 8, [](std::int64_t i) { return i < 4 ? 0 : i; }));
  SpmmPlan const plan(exec, A);
  auto const& rows = plan.statistics();
  EXPECT_EQ(rows.rows, 10);
  EXPECT_EQ(rows.columns, 8);
  EXPECT_EQ(rows.nonzeros, 4 + 5 + 6 + 7 + 8 + 9);
  EXPECT_EQ(rows.empty_rows, 4);
  EXPECT_EQ(rows.shortest, 0);
  EXPECT_EQ(rows.longest, 9);
  EXPECT_EQ(rows.group_work, 8 * 7 + 2 * 9);
  EXPECT_EQ(rows.diagonal_groups, 0);
  EXPECT_DOUBLE_EQ(rows.mean(), 3.9);
}

TYPED_TEST(Plan, CountsRowsThatFollowADiagonal) {
  TypeParam const exec;
  // 100 rows in 13 groups; in the first and the last of them the band is cut off
  SpmmPlan const banded(exec, to_device(exec, band<double>(100)));
  EXPECT_EQ(banded.statistics().diagonal_groups, 11);
  EXPECT_DOUBLE_EQ(banded.statistics().diagonal(), 11.0 / 13);
  auto const ones = random_matrix<double>("ones", 9, 1, [](std::int64_t) { return 1; });
  EXPECT_EQ(SpmmPlan(exec, to_device(exec, ones)).statistics().diagonal_groups, 0);
}

TYPED_TEST(Plan, ChoosesByRowLengthsAndSaysWhy) {
  TypeParam const exec;
  auto const even = to_device(exec, band<double>(100));
  SpmmPlan const of_even(exec, even);
  EXPECT_EQ(of_even.algorithm(), "rows");
  auto const bytes = of_even.statistics().nonzeros * 12 + 101 * 4;
  EXPECT_THAT(of_even.explain(8), HasSubstr("reads at least " + std::to_string(bytes) +
                                            " bytes of A; X and Y have 12800"));
  auto const heavy = to_device(exec, random_matrix<double>("heavy", 300, 40000, [](std::int64_t i) {
                                 return i == 5 ? 30000 : 3;
                               }));
  SpmmPlan const plan(exec, heavy);
  EXPECT_TRUE(find_spmm_variant(plan.algorithm())->lists_segments()) << plan.explain(8);
  auto const words = plan.explain(8);
  EXPECT_THAT(words, HasSubstr(plan.kernel(8) + " at 8 columns"));
  EXPECT_THAT(words, HasSubstr("because the longest row has 30000 nonzeros"));
  EXPECT_THAT(words, HasSubstr("rows: whole rows"));
  EXPECT_THAT(words, HasSubstr("1 rows are cut"));
  EXPECT_THAT(words, HasSubstr("expected " + std::string(plan.algorithm()) + " "));
}

auto reads_at_least(std::int64_t bytes) {
  return HasSubstr("reads at least " + std::to_string(bytes) + " bytes of A;");
}

/// Groups read the columns of their first rows.
TYPED_TEST(Plan, CountsTheBytesOfGroups) {
  TypeParam const exec;
  auto const host = shared_columns<double>(
      "nodes", 30, 80, [](auto) { return 3; }, [](auto) { return 10; });
  auto const A = to_device(exec, host);
  std::int64_t const entries = 900, offsets = 91 * 4;
  SpmmPlan groups(exec, A, {.algorithm = "groups"});
  SpmmPlan rows(exec, A, {.algorithm = "single_columns"});
  EXPECT_THAT(groups.explain(8), reads_at_least(entries * 8 + 300 * 4 + offsets));
  EXPECT_THAT(rows.explain(8), reads_at_least(entries * (8 + 4) + offsets));
}

TYPED_TEST(Plan, RunsTheVariantAskedFor) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(20));
  for (auto const& variant : offered_variants<TypeParam>()) {
    SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id)});
    EXPECT_EQ(plan.algorithm(), variant.id);
    EXPECT_EQ(plan.kernel(8), variant.label);
    EXPECT_EQ(std::string("Blockspan::spmm::") + std::string(variant.id), variant.label);
    EXPECT_THAT(plan.explain(8), HasSubstr("asked for"));
  }
}

TYPED_TEST(Plan, RefusesWhatIsNotOnTheMenu) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(20));
  auto const message =
      message_of([&] { SpmmPlan const plan(exec, A, {.algorithm = "abracadabra"}); });
  EXPECT_THAT(message, HasSubstr("unknown algorithm \"abracadabra\""));
  for (auto const* const variant : spmm_variants())
    EXPECT_THAT(message, HasSubstr(std::string(variant->id) + ":"));
  EXPECT_THAT(message_of([&] { SpmmPlan const plan(exec, A, {.columns = 0}); }),
              HasSubstr("columns must be at least 1 (0)"));
  EXPECT_THAT(message_of([&] { SpmmPlan const plan(exec, A, {.segment_length = -1}); }),
              HasSubstr("segment_length"));
  auto const with_lanes = [&](SpmmLanes const& lanes) {
    return message_of([&] { SpmmPlan const plan(exec, A, {.lanes = lanes}); });
  };
  EXPECT_THAT(with_lanes({3, 0, 0}), HasSubstr("powers of two"));
  EXPECT_THAT(with_lanes({8, 8, 0}), HasSubstr("together at most 32 (8 over columns, 8"));
  EXPECT_THAT(with_lanes({0, 0, 3}), HasSubstr("1 or 2 vectors (3)"));
}

TYPED_TEST(Plan, KnowsItsPattern) {
  TypeParam const exec;
  auto host = random_matrix<double>("random", 30, 30, [](std::int64_t i) { return i % 5; });
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A);
  EXPECT_TRUE(plan.verify(exec, A));
  EXPECT_TRUE(plan.verify(exec, to_device(exec, host)));
  host.values[3] += 1;
  EXPECT_TRUE(plan.verify(exec, to_device(exec, host)));
  std::swap(host.indices[10], host.indices[20]);
  EXPECT_FALSE(plan.verify(exec, to_device(exec, host)));
  std::swap(host.indices[10], host.indices[20]);
  --host.offsets[7];
  EXPECT_FALSE(plan.verify(exec, to_device(exec, host)));
  ++host.offsets[7];
  ++host.columns;
  EXPECT_FALSE(plan.verify(exec, to_device(exec, host)));
}

/// Also what the first products have built: the transpose, scratch, a dense A.
TYPED_TEST(Plan, ServesChangedValuesWithEveryVariant) {
  TypeParam const exec;
  std::vector<std::string> algorithms{"auto"};
  for (auto const& variant : offered_variants<TypeParam>()) algorithms.emplace_back(variant.id);
  for (auto const& given : {arrow<double>(40), band<double>(45)})
    for (auto const& algorithm : algorithms) {
      SCOPED_TRACE(algorithm);
      auto host = given;
      auto const A = to_device(exec, host);
      SpmmPlan plan(exec, A, {.algorithm = algorithm, .segment_length = 6});
      SpmmPlan const moved = std::move(plan);
      for (int turn = 0; turn < 3; ++turn) {
        for (Op const op : {Op::none, Op::transpose}) {
          ProductCase<double> const c{host, op, 6};
          expect_product(exec, Storages{right, right}, c, [&](auto const& X, auto const& Y) {
            spmm(exec, moved, op, 1.0, A, X, 0.0, Y);
          });
        }
        for (double& value : host.values) value = 1 - 3 * value;
        set_values(A, host.values);
      }
      EXPECT_THAT(moved.explain(6), HasSubstr("transpose of A"));
    }
}

TYPED_TEST(Plan, RefusesAnotherMatrix) {
  TypeParam const exec;
  auto const host = band<double>(20);
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A);
  auto const X = make_block(exec, Storage::right, random_block<double>(20, 2, 1));
  auto const Y = make_block(exec, Storage::right, random_block<double>(20, 2, 2));
  auto const product = [&](auto const& B) {
    return message_of([&] { spmm(exec, plan, Op::none, 1.0, B, X.view, 0.0, Y.view); });
  };
  EXPECT_THAT(product(to_device(exec, arrow<double>(20))), HasSubstr("made for another pattern"));
  EXPECT_THAT(product(to_device(exec, host)), HasSubstr("in other arrays"));
}

/// 64-bit ordinals count more rows than kernels of devices do.
TEST(PlanOfManyRows, IsRefusedForDevices) {
  using Pattern = blockspan::products::PatternRef<int, std::int64_t>;
  auto const said = [](std::int64_t rows, std::int64_t columns, bool on_host) {
    return message_of([&] {
      blockspan::products::check_rows("here", Pattern{rows, columns, 0, nullptr, nullptr}, on_host);
    });
  };
  constexpr std::int64_t most_rows = INT32_MAX, most_columns = UINT32_MAX;
  EXPECT_EQ(said(most_rows, most_columns, false), "nothing was thrown");
  EXPECT_EQ(said(most_rows + 1, most_columns + 1, true), "nothing was thrown");
  EXPECT_THAT(said(most_rows + 1, 1, false), HasSubstr("here: 2147483648 x 1 rows and columns"));
  EXPECT_THAT(said(1, most_columns + 1, false), HasSubstr("1 x 4294967296 rows and columns"));
}

TYPED_TEST(Plan, RefusesWhatDoesNotFit) {
  TypeParam const exec;
  auto const A = to_device(exec, random_matrix<double>("random", 9, 7, [](auto) { return 3; }));
  auto const block = [&](int n, int k) {
    return make_block(exec, Storage::right, random_block<double>(n, k, 3));
  };
  auto const product = [&](Op op, auto const& X, auto const& Y) {
    return message_of([&] { spmm(exec, op, 1.0, A, X.view, 0.0, Y.view); });
  };
  EXPECT_THAT(product(Op::none, block(9, 4), block(9, 4)),
              HasSubstr("X must have as many rows as op(A) has columns (op(A): 9 x 7, op none; X: "
                        "9 x 4; Y: 9 x 4)"));
  EXPECT_THAT(product(Op::transpose, block(9, 4), block(9, 4)), HasSubstr("Y must have"));
  EXPECT_THAT(product(Op::adjoint, block(7, 4), block(7, 4)), HasSubstr("op(A): 7 x 9"));
  EXPECT_THAT(product(Op::none, block(7, 4), block(9, 5)), HasSubstr("same number of columns"));
}

TYPED_TEST(Plan, RefusesOverlapButNotNeighbours) {
  TypeParam const exec;
  auto const host = band<double>(12);
  auto const A = to_device(exec, host);
  auto const run = [&](auto const& Z) {
    auto const columns = [&](int first, int last) {
      return Kokkos::subview(Z.view, Kokkos::ALL, std::pair(first, last));
    };
    auto const product = [&](auto const& X, auto const& Y) {
      return message_of([&] { spmm(exec, Op::none, 1.0, A, X, 0.0, Y); });
    };
    EXPECT_THAT(product(columns(0, 4), columns(4, 8)), HasSubstr("nothing was thrown"));
    EXPECT_THAT(product(columns(4, 8), columns(0, 4)), HasSubstr("nothing was thrown"));
    EXPECT_THAT(product(columns(0, 4), columns(3, 7)), HasSubstr("Y must not overlap X"));
    EXPECT_THAT(product(columns(3, 7), columns(0, 4)), HasSubstr("Y must not overlap X"));
    EXPECT_THAT(product(columns(0, 4), columns(0, 4)), HasSubstr("Y must not overlap X"));
  };
  auto const values = random_block<double>(12, 8, 4);
  run(make_block(exec, Storage::right, values));
  run(make_block(exec, Storage::left, values));
  run(make_block(exec, Storage::padded_right, values));
}

TYPED_TEST(Plan, SaysWhyADenseProductIsRefused) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(40));
  auto const X = make_block(exec, Storage::strided, random_block<double>(40, 3, 1));
  auto const Y = make_block(exec, Storage::right, random_block<double>(40, 3, 2));
  SpmmPlan const plan(exec, A, {.algorithm = "dense"});
  EXPECT_THAT(message_of([&] { spmm(exec, plan, Op::none, 1.0, A, X.view, 0.0, Y.view); }),
              HasSubstr("neither rows nor columns of X are contiguous"));
  auto const large = to_device(exec, band<double>(200000));
  SpmmPlan const too_large(exec, large, {.algorithm = "dense"});
  auto const V = make_block(exec, Storage::right, random_block<double>(200000, 1, 1));
  auto const W = make_block(exec, Storage::right, random_block<double>(200000, 1, 2));
  EXPECT_THAT(message_of([&] { spmm(exec, too_large, Op::none, 1.0, large, V.view, 0.0, W.view); }),
              HasSubstr("A has 200000 x 200000 elements"));
}

#ifdef KOKKOS_ENABLE_CUDA
TEST(PlanOnCuda, RefusesVectorsThatDoNotFit) {
  Kokkos::Cuda const exec;
  auto const A = to_device(exec, band<double>(12));
  SpmmPlan const asked(exec, A, {.algorithm = "rows"});
  auto const X = make_block(exec, Storage::right, random_block<double>(12, 5, 4));
  auto const Y = make_block(exec, Storage::right, random_block<double>(12, 5, 4));
  EXPECT_THAT(message_of([&] { spmm(exec, asked, Op::none, 1.0, A, X.view, 0.0, Y.view); }),
              HasSubstr("rows cannot serve this input; it needs"));
  SpmmPlan const preferred(exec, A, {.algorithm = "rows", .strict = false});
  EXPECT_NO_THROW(spmm(exec, preferred, Op::none, 1.0, A, X.view, 0.0, Y.view));
  EXPECT_EQ(preferred.kernel(5), "Blockspan::spmm::single_columns");
  EXPECT_EQ(preferred.kernel(6), "Blockspan::spmm::rows");
  SpmmPlan const chosen(exec, A);
  EXPECT_NO_THROW(spmm(exec, chosen, Op::none, 1.0, A, X.view, 0.0, Y.view));
  exec.fence("Blockspan::test");
  EXPECT_EQ(chosen.kernel(5), "Blockspan::spmm::single_columns");
  EXPECT_EQ(chosen.kernel(6), "Blockspan::spmm::rows");
}
#endif

TYPED_TEST(Plan, SaysWhatAnotherOrderMightBring) {
  TypeParam const exec;
  auto const words = [&](char const* spec) {
    return SpmmPlan(exec, generate<double>(exec, spec)).explain(8);
  };
  EXPECT_THAT(words("permute:laplace7:40"), HasSubstr("% of the columns lie far from their row"));
  EXPECT_THAT(words("laplace7:40"), Not(HasSubstr("far from their row")));
  EXPECT_THAT(words("permute:laplace7:10"), Not(HasSubstr("far from their row")));  // X is small
}

}  // namespace
}  // namespace blockspan::test
