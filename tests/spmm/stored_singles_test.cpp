// SpmmPlan::hold_single_precision: products in double from values in single precision.
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/stored_values.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <class Config>
class HeldSingles : public ::testing::Test {};
TYPED_TEST_SUITE(HeldSingles, Configs, ConfigNames);

/// True if single precision is less than what the matrix has.
template <class Scalar>
inline constexpr bool is_double = std::is_same_v<real_t<Scalar>, double>;

/// Values with all the digits of a double ...
template <class Scalar>
HostMatrix<Scalar> with_all_digits(HostMatrix<Scalar> A) {
  for (auto& value : A.values) value /= real_t<Scalar>(3);
  return A;
}
/// ... and with those of a float.
template <class Scalar>
HostMatrix<Scalar> rounded(HostMatrix<Scalar> const& A) {
  auto B = with_all_digits(A);
  for (auto& value : B.values) value = Scalar(single_t<Scalar>(value));
  return B;
}

/// Whether plain products of this variant read them.
bool read_singles(SpmmVariant const& variant) {
  return variant.is_direct() || variant.lists_groups();
}

TYPED_TEST(HeldSingles, AreRightWithEveryVariant) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (is_double<Scalar>) {
    Exec const exec;
    for (auto const& any : battery<Scalar>()) {
      auto const host = rounded(any);
      auto const A = to_device(exec, host);
      for (auto const& variant : offered_variants<Exec, Scalar>()) {
        SpmmPlanOptions const options{.algorithm = std::string(variant.id), .piece_length = 5};
        SpmmPlan plan(exec, A, options);
        EXPECT_TRUE(plan.hold_single_precision(exec, A)) << host.name;
        for (Op const op : all_ops)
          for (int const columns : {1, 5, 8}) {
            if (columns != 8 && variant.requires_aligned_x) continue;
            ProductCase<Scalar> const c{host, op, columns, Scalar(2), Scalar(-1)};
            EXPECT_TRUE(matches(product(exec, plan, A, c),
                                reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())))
                << variant.id << ", " << c.words();
          }
      }
    }
  }
}

TYPED_TEST(HeldSingles, AreReadByTheVariantsThatSaySo) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (is_double<Scalar>) {
    Exec const exec;
    auto const host =
        rounded(random_matrix<Scalar>("random", 40, 30, [](std::int64_t i) { return 1 + i % 9; }));
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      auto const A = to_device(exec, host);
      SpmmPlan plan(exec, A, {.algorithm = std::string(variant.id), .piece_length = 5});
      EXPECT_TRUE(plan.hold_single_precision(exec, A));
      EXPECT_EQ(plan.explain(8, sizeof(Scalar)).find("reads values in single precision") !=
                    std::string::npos,
                read_singles(variant))
          << plan.explain(8, sizeof(Scalar));
      spoil_values(A);
      for (Op const op : {Op::none, Op::conjugate}) {
        ProductCase<Scalar> const c{host, op, 8};
        auto const right_anyway = matches(
            product(exec, plan, A, c), reference_product(op, c.alpha, host, c.X(), c.beta, c.Y()));
        EXPECT_EQ(static_cast<bool>(right_anyway), read_singles(variant)) << variant.id;
      }
    }
  }
}

TYPED_TEST(HeldSingles, AreNotKeptIfThatChangesAValue) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (is_double<Scalar>) {
    Exec const exec;
    auto const host = with_all_digits(band<Scalar>(30));
    auto const A = to_device(exec, host);
    SpmmPlan plan(exec, A);
    EXPECT_FALSE(plan.hold_single_precision(exec, A));
    ProductCase<Scalar> const c{host, Op::none, 8};
    auto const Y = product(exec, plan, A, c);
    EXPECT_TRUE(same_bits(Y, product(exec, SpmmPlan(exec, A), A, c)));
    EXPECT_THAT(plan.explain(8, sizeof(Scalar)), Not(HasSubstr("single precision")));

    // rounded, the product is that of the rounded matrix, to double precision
    EXPECT_TRUE(plan.hold_single_precision(exec, A, SpmmSingles::rounded));
    auto const single = rounded(band<Scalar>(30));
    auto const Z = product(exec, plan, A, c);
    EXPECT_TRUE(matches(Z, reference_product(c.op, c.alpha, single, c.X(), c.beta, c.Y())));
    EXPECT_FALSE(same_bits(Y, Z));

    // one that a float cannot take ends what was stored
    for (double const beyond : {1e300, 1e-300, 1e-40, std::nan("")}) {
      auto values = host.values;
      values[7] = Scalar(beyond);
      set_values(A, values);
      EXPECT_FALSE(plan.hold_single_precision(exec, A, SpmmSingles::rounded)) << beyond;
      EXPECT_THAT(plan.explain(8, sizeof(Scalar)), Not(HasSubstr("single precision")));
    }
    auto values = single.values;
    values[7] = Scalar(0);
    values[8] = Scalar(std::numeric_limits<double>::infinity());
    set_values(A, values);
    EXPECT_TRUE(plan.hold_single_precision(exec, A));
  }
}

TYPED_TEST(HeldSingles, ServeTheTransposeOfASymmetricMatrixAndNoOtherArray) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (is_double<Scalar>) {
    Exec const exec;
    auto host = rounded(mirrored_band<Scalar>(50, [](Scalar x) { return x; }));
    auto const A = to_device(exec, host);
    CrsMatrix<Scalar, Exec> const B("B", 50, 50, static_cast<int>(A.nnz()),
                                    to_device(exec, host).values, A.graph.row_map, A.graph.entries);
    SpmmPlan plan(exec, A);
    EXPECT_TRUE(plan.hold_single_precision(exec, A));
    plan.hold_transpose(exec, A);
    spoil_values(A);
    for (Op const op : all_ops)
      for (auto const& matrix : {A, B}) {
        ProductCase<Scalar> const c{host, op, 8};
        EXPECT_TRUE(matches(product(exec, plan, matrix, c),
                            reference_product(op, c.alpha, host, c.X(), c.beta, c.Y())));
      }
    // what was stored of one matrix ends with the first that is stored of another
    plan.hold_transpose(exec, B);
    EXPECT_THAT(plan.explain(8, sizeof(Scalar)), Not(HasSubstr("single precision")));
  }
}

TYPED_TEST(HeldSingles, AreRefusedWhereThereIsNothingToSpare) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = to_device(exec, band<Scalar>(30)), B = to_device(exec, band<Scalar>(31));
  SpmmPlan plan(exec, A);
  EXPECT_THAT(message_of([&] { plan.hold_single_precision(exec, B); }),
              HasSubstr("hold_single_precision: the plan was made for another pattern"));
  if constexpr (!is_double<Scalar>) {
    EXPECT_THAT(message_of([&] { plan.hold_single_precision(exec, A); }),
                HasSubstr("the matrix is in single precision"));
  }
}

}  // namespace
}  // namespace blockspan::test
