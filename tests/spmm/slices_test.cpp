// SpmmPlan::hold_slices: the bits of the same products from A itself.
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/stored_values.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Config>
class HeldSlices : public ::testing::Test {};
TYPED_TEST_SUITE(HeldSlices, EveryConfig, ConfigNames);

/// Lengths of all residues of a slice, windows that end anywhere, rows much longer than others,
/// empty ones, and one that ends in the middle of a slice.
template <class Scalar>
std::vector<HostMatrix<Scalar>> uneven_matrices() {
  using Row = std::int64_t;
  auto matrices = battery<Scalar>();
  matrices.push_back(random_matrix<Scalar>("one length", 613, 200, [](Row) { return 7; }));
  matrices.push_back(random_matrix<Scalar>(
      "many lengths", 1021, 300, [](Row i) { return (i * i) % 23 + (i % 97 == 0) * 280; }));
  matrices.push_back(random_matrix<Scalar>("sorted", 300, 300, [](Row i) { return i / 8; }));
  return matrices;
}

template <class Scalar>
constexpr bool may_hold(bool on_host) {
  return on_host && std::is_same_v<Scalar, double>;
}

TYPED_TEST(HeldSlices, GiveTheBitsOfTheMatrix) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  int held = 0;
  for (auto const& host : uneven_matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    SpmmPlan const plain(exec, A);
    SpmmPlan plan(exec, A);
    held += plan.hold_slices(exec, A);
    for (std::int64_t const columns : {1, 2, 5})
      for (Op const op : all_ops)
        for (auto const beta : {Scalar(0), Scalar(-0.75)}) {
          ProductCase<Scalar> const c{host, op, columns, Scalar(1.5), beta};
          auto const Y = product(exec, plan, A, c);
          EXPECT_TRUE(same_bits(Y, product(exec, plain, A, c))) << c.words();
          EXPECT_TRUE(matches(Y, reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())))
              << c.words();
        }
  }
  EXPECT_EQ(held > 0, may_hold<Scalar>(support::runs_on_host_v<Exec>));
}

/// A column of a wider block is read with its stride.
TYPED_TEST(HeldSlices, ReadColumnsOfWiderBlocks) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>("random", 530, 90, [](std::int64_t i) { return i % 6; });
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  plan.hold_slices(exec, A);
  ProductCase<Scalar> const c{host, Op::none, 1, Scalar(2), Scalar(-1)};
  for (auto const& storages : mixed_storages) expect_spmm(exec, plan, A, c, storages);
}

/// As long as the plan is not told of other values it has the old ones, and only of their array.
TYPED_TEST(HeldSlices, AreReadAndRenewed) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto host = random_matrix<Scalar>("random", 333, 60, [](std::int64_t i) { return 1 + i % 9; });
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  if (!plan.hold_slices(exec, A)) GTEST_SKIP() << "nothing is held of these scalars here";
  ProductCase<Scalar> const c{host, Op::none, 1};
  auto const expected = reference_product(c.op, c.alpha, host, c.X(), c.beta, c.Y());
  auto const own = plan.without_copies();
  spoil_values(A);
  EXPECT_TRUE(matches(product(exec, plan, A, c), expected));
  EXPECT_FALSE(matches(product(exec, own, A, c), expected));

  Random random(5);
  for (auto& value : host.values) value = random.value<Scalar>();
  set_values(A, host.values);
  plan.hold_slices(exec, A);
  EXPECT_TRUE(matches(product(exec, plan, A, c),
                      reference_product(c.op, c.alpha, host, c.X(), c.beta, c.Y())));
  auto const other = to_device(
      exec, random_matrix<Scalar>("other", 332, 60, [](std::int64_t i) { return 1 + i % 9; }));
  EXPECT_THAT(message_of([&] { plan.hold_slices(exec, other); }),
              ::testing::HasSubstr("SpmmPlan::hold_slices: the plan was made for another pattern"));
}

/// Another array of values may get the place of one that is gone.
TYPED_TEST(HeldSlices, ServeNoLaterMatrixInThePlaceOfOneThatIsGone) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host =
      random_matrix<Scalar>("random", 333, 60, [](std::int64_t i) { return 1 + i % 9; });
  auto later = host;
  for (auto& value : later.values) value *= Scalar(2);
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  bool const holds = plan.hold_slices(exec, with_values(A, host.values));  // which goes here
  ProductCase<Scalar> const c{later, Op::none, 1};
  expect_later_values(exec, plan, A, later, c);
  auto const held = with_values(A, host.values);
  plan.hold_slices(exec, held);
  EXPECT_EQ(held.values.use_count() > 1, holds);
}

/// No entry is made up: what is not finite stays in its rows.
TYPED_TEST(HeldSlices, MultiplyNothingThatIsNotThere) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>("random", 500, 40, [](std::int64_t i) { return i % 4; });
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  plan.hold_slices(exec, A);
  HostBlock<Scalar> x(40, 1, Scalar(1));
  for (std::int64_t j = 0; j < 40; j += 3) x(j, 0) = not_a_number<Scalar>();
  auto const X = make_block(exec, right, x), Y = make_block(exec, right, HostBlock<Scalar>(500, 1));
  spmm(exec, plan, Op::none, Scalar(1), A, X.const_view(), Scalar(0), Y.view);
  exec.fence("Blockspan::test");
  auto const y = Y.values();
  for (std::int64_t i = 0; i < 500; ++i) {
    bool reads = false;
    for (auto k = host.offsets[i]; k < host.offsets[i + 1]; ++k) reads |= host.indices[k] % 3 == 0;
    EXPECT_EQ(y(i, 0) != y(i, 0), reads) << "row " << i;
  }
}

/// The operator for many products, and its step.
TYPED_TEST(HeldSlices, ServeOperators) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = to_device(
      exec, random_matrix<Scalar>("random", 700, 700, [](std::int64_t i) { return 1 + i % 11; }));
  auto const plain = matrix_operator(exec, A, 1);
  auto const fast = plain.for_many_products(exec);
  EXPECT_EQ(fast != nullptr, may_hold<Scalar>(support::runs_on_host_v<Exec>));
  if (!fast) return;
  auto const Z = make_block(exec, right, random_block<Scalar>(700, 1, 1)),
             R = make_block(exec, right, random_block<Scalar>(700, 1, 2));
  auto const of = [&](auto const& run) {
    auto const Y = make_block(exec, right, random_block<Scalar>(700, 1, 3));
    run(Y.view);
    exec.fence("Blockspan::test");
    return Y.values();
  };
  auto const apply = [&](LinearOperator<Scalar, Exec> const& op) {
    return of([&](auto const& Y) { op.apply(exec, Z.const_view(), Y); });
  };
  auto const step = [&](LinearOperator<Scalar, Exec> const& op) {
    return of([&](auto const& Y) {
      OperatorStep<Scalar, Exec> const all{R.const_view(),       {},   real_t<Scalar>(0.5),
                                           real_t<Scalar>(0.25), true, true};
      EXPECT_TRUE(op.apply_step(exec, Z.const_view(), all, Y));
    });
  };
  EXPECT_TRUE(same_bits(apply(*fast), apply(plain)));
  EXPECT_TRUE(same_bits(step(*fast), step(plain)));
}

/// Devices hold slices of matrices of many rows: by lanes of few and of many sums a row, to the
/// same bits, also where gaps would meet what is not finite.
TYPED_TEST(HeldSlices, GiveTheBitsOfLargeMatricesOnDevices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (support::runs_on_host_v<Exec>)
    GTEST_SKIP() << "on hosts slices do not depend on how many rows";
  Exec const exec;
  auto const expect_same = [&](char const* spec, bool holds) {
    auto const A = generate<Scalar>(exec, spec);
    SpmmPlan const plain(exec, A, {.columns = 1});
    SpmmPlan held(exec, A, {.columns = 1});
    EXPECT_EQ(held.hold_slices(exec, A), holds && !is_complex_v<Scalar>) << spec;
    auto x = random_block<Scalar>(A.numCols(), 2, 1);
    for (std::int64_t j = 100; j < A.numCols(); j += 9973) x(j, 0) = not_a_number<Scalar>();
    auto const X = make_block(exec, right, x);
    auto const of = [&](auto const& plan, int column, Scalar beta) {
      auto const Y = make_block(exec, right, random_block<Scalar>(A.numRows(), 1, 4));
      auto const only = Kokkos::subview(X.const_view(), Kokkos::ALL, std::pair(column, column + 1));
      spmm(exec, plan, Op::none, Scalar(1.5), A, ConstBlock<Scalar, Exec>(only), beta, Y.view);
      exec.fence("Blockspan::test");
      return Y.values();
    };
    for (int const column : {0, 1})
      for (auto const beta : {Scalar(0), Scalar(-0.75)})
        EXPECT_TRUE(same_bits(of(held, column, beta), of(plain, column, beta))) << spec;
  };
  for (auto const* const spec :
       {"laplace7:72x70x68", "laplace27:60x62x64", "p1:54", "banded:200000:9", "banded:200000:30"})
    expect_same(spec, true);
  expect_same("laplace7:260x256x3", false);  // planes are further apart than 16 bits tell
  expect_same("wells:50:2,40,900", false);   // gaps
}

}  // namespace
}  // namespace blockspan::test
