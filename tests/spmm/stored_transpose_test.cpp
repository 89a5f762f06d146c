// SpmmPlan::hold_transpose: the same products from values in another order, or from A itself.
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/stored_values.hpp"
#include "support/messages.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Config>
class HeldTranspose : public ::testing::Test {};
TYPED_TEST_SUITE(HeldTranspose, Configs, ConfigNames);

/// The same with the entries of each row from right to left.
template <class Scalar>
HostMatrix<Scalar> reversed_rows(HostMatrix<Scalar> const& A) {
  HostMatrix<Scalar> B{A.name + ", reversed rows", A.rows, A.columns, {0}, {}, {}};
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (auto k = A.offsets[i + 1]; k-- > A.offsets[i];) B.add(A.indices[k], A.values[k]);
    B.end_row();
  }
  return B;
}

TYPED_TEST(HeldTranspose, IsRightWithEveryVariant) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (auto const& host : battery<Scalar>()) {
    auto const A = to_device(exec, host);
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SpmmPlanOptions const options{.algorithm = std::string(variant.id), .segment_length = 5};
      SpmmPlan plan(exec, A, options);
      plan.hold_transpose(exec, A);
      for (Op const op : all_ops) {
        ProductCase<Scalar> const c{host, op, 8, Scalar(2), Scalar(-1)};
        auto const Y = product(exec, plan, A, c);
        EXPECT_TRUE(matches(Y, reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())))
            << variant.id << ", " << c.words();
      }
    }
  }
}

TYPED_TEST(HeldTranspose, IsReadByEveryVariant) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = random_matrix<Scalar>("random", 40, 30, [](std::int64_t i) { return i % 9; });
  for (auto const& variant : offered_variants<Exec, Scalar>()) {
    auto const A = to_device(exec, host);
    SpmmPlan plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 5});
    plan.hold_transpose(exec, A);
    spoil_values(A);
    for (Op const op : {Op::transpose, Op::adjoint}) {
      ProductCase<Scalar> const c{host, op, 8};
      EXPECT_TRUE(matches(product(exec, plan, A, c),
                          reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())))
          << variant.id;
    }
  }
}

TYPED_TEST(HeldTranspose, TakesTheNewValues) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto host = arrow<Scalar>(60);
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  Random random(31);
  for (int time = 0; time < 3; ++time) {
    for (auto& value : host.values) value = random.value<Scalar>();
    set_values(A, host.values);
    plan.hold_transpose(exec, A);
    for (Op const op : all_ops) {
      ProductCase<Scalar> const c{host, op, 5};
      EXPECT_TRUE(matches(product(exec, plan, A, c),
                          reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())));
    }
  }
}

/// A plan knows no scalar; what it holds must not be taken for the values of another matrix.
TYPED_TEST(HeldTranspose, ServesNoOtherMatrixOfThePattern) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = arrow<Scalar>(40);
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  plan.hold_transpose(exec, A);
  auto const expect = [&](auto const& other) {
    using Other = typename std::decay_t<decltype(other)>::value_type;
    HostMatrix<Other> const values{"other",      host.rows,    host.columns,
                                   host.offsets, host.indices, other};
    auto const copied = to_device(exec, values);
    CrsMatrix<Other, Exec> const B("B", 40, 40, static_cast<int>(copied.nnz()), copied.values,
                                   A.graph.row_map, A.graph.entries);
    for (Op const op : {Op::transpose, Op::adjoint}) {
      ProductCase<Other> const c{values, op, 4};
      EXPECT_TRUE(matches(product(exec, plan, B, c),
                          reference_product(op, c.alpha, values, c.X(), c.beta, c.Y())));
    }
  };
  std::vector<Scalar> doubled = host.values;
  for (auto& value : doubled) value *= Scalar(2);
  expect(doubled);
  if constexpr (has_scalar<double>) expect(std::vector<double>(host.values.size(), 0.5));
}

/// Nor for those of a later one: their array would get the place of one that is gone.
TYPED_TEST(HeldTranspose, ServesNoLaterMatrixInThePlaceOfOneThatIsGone) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = arrow<Scalar>(40);
  auto later = host;
  for (auto& value : later.values) value *= Scalar(2);
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  plan.hold_transpose(exec, with_values(A, host.values));  // which goes here
  ProductCase<Scalar> const c{later, Op::transpose, 4};
  expect_later_values(exec, plan, A, later, c);
  auto const held = with_values(A, host.values);
  plan.hold_transpose(exec, held);
  EXPECT_GT(held.values.use_count(), 1);
}

TYPED_TEST(HeldTranspose, OfASymmetricOrHermitianMatrixIsItself) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const expect = [&](HostMatrix<Scalar> const& host, Op same, std::string const& words) {
    auto const A = to_device(exec, host);
    SpmmPlan plan(exec, A);
    plan.hold_transpose(exec, A);
    EXPECT_THAT(plan.explain(8), HasSubstr("those of a " + words + " matrix"));
    for (Op const op : all_ops) {
      ProductCase<Scalar> const c{host, op, 8};
      auto const Y = product(exec, plan, A, c);
      EXPECT_TRUE(matches(Y, reference_product(op, c.alpha, host, c.X(), c.beta, c.Y()))) << words;
      ProductCase<Scalar> const plain{host, op == same ? Op::none : op, 8};
      EXPECT_TRUE(same_bits(Y, product(exec, plan, A, plain))) << words << ", " << to_string(op);
      auto const X = make_block(exec, right, c.X()), Z = make_block(exec, right, c.Y());
      auto const seen =
          observed([&] { spmm(exec, plan, op, Scalar(1), A, X.const_view(), Scalar(0), Z.view); });
      EXPECT_THAT(seen.labels, Contains(plan.kernel(8, sizeof(Scalar))));
      EXPECT_THAT(seen.allocations, Not(Contains(HasSubstr("transposed"))))
          << "a transpose is kept";
    }
  };
  expect(mirrored_band<Scalar>(50, [](Scalar x) { return x; }), Op::transpose, "symmetric");
  if constexpr (is_complex_v<Scalar>) {
    auto hermitian = mirrored_band<Scalar>(50, [](Scalar x) { return Kokkos::conj(x); });
    for (std::int64_t i = 0; i < 50; ++i)
      for (auto k = hermitian.offsets[i]; k < hermitian.offsets[i + 1]; ++k)
        if (hermitian.indices[k] == i) hermitian.values[k].imag() = 0;
    expect(hermitian, Op::adjoint, "Hermitian");
  }
}

TYPED_TEST(HeldTranspose, SeesWhereASymmetryEnds) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const same = [](Scalar x) { return x; };
  auto const symmetric = mirrored_band<Scalar>(50, same);
  auto nearly = symmetric;
  nearly.values[100] *= Scalar(1) + Scalar(4 * unit_roundoff<Scalar>);
  auto undefined = symmetric;
  undefined.values[0] = not_a_number<Scalar>();
  for (auto const& host : {mirrored_band<Scalar>(50, [](Scalar x) { return -x; }), nearly,
                           reversed_rows(symmetric), band<Scalar>(50)}) {
    auto const A = to_device(exec, host);
    SpmmPlan plan(exec, A);
    plan.hold_transpose(exec, A);
    EXPECT_THAT(plan.explain(8), HasSubstr("reads values stored in its order"));
    for (Op const op : all_ops) {
      ProductCase<Scalar> const c{host, op, 8};
      EXPECT_TRUE(matches(product(exec, plan, A, c),
                          reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())));
    }
  }
  // and where it comes and goes with the values
  auto host = symmetric;
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  std::vector<std::vector<Scalar>> const in_turn{symmetric.values, nearly.values, undefined.values,
                                                 symmetric.values};
  for (auto const& values : in_turn) {
    set_values(A, values);
    plan.hold_transpose(exec, A);
    EXPECT_EQ(plan.explain(8).find("a symmetric matrix") != std::string::npos,
              values == symmetric.values);
    host.values = values;
    if (std::isnan(magnitude(values[0]))) continue;
    ProductCase<Scalar> const c{host, Op::transpose, 8};
    EXPECT_TRUE(matches(product(exec, plan, A, c),
                        reference_product(c.op, c.alpha, host, c.X(), c.beta, c.Y())));
  }
}

TYPED_TEST(HeldTranspose, RefusesAnotherPattern) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = to_device(exec, band<Scalar>(30)), B = to_device(exec, band<Scalar>(31));
  SpmmPlan plan(exec, A);
  EXPECT_THAT(message_of([&] { plan.hold_transpose(exec, B); }),
              HasSubstr("SpmmPlan::hold_transpose: the plan was made for another pattern"));
}

}  // namespace
}  // namespace blockspan::test
