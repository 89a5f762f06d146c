// Products of 16-bit scalars, summed in float.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/product_case.hpp"
#include "spmm/stored.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

/// One product: what is multiplied, without where it lies.
template <class Stored>
struct StoredCase {
  HostMatrix<double> const& A;  ///< rounded
  Op op = Op::none;
  std::int64_t columns = 4;
  float alpha = 1;
  float beta = 0;

  HostBlock<double> X() const {
    auto const rows = transposes(op) ? A.rows : A.columns;
    return alpha == 0 ? HostBlock<double>(rows, columns, NAN)
                      : rounded<Stored>(random_block<double>(rows, columns, 11));
  }
  HostBlock<double> Y() const {
    auto const rows = transposes(op) ? A.columns : A.rows;
    return beta == 0 ? HostBlock<double>(rows, columns, NAN)
                     : rounded<Stored>(random_block<double>(rows, columns, 12));
  }
  Reference<double> wanted() const {
    auto result = reference_product<double>(op, alpha, A, X(), beta, Y());
    // the bounds are of double
    long double const as_float = unit_roundoff<float> / unit_roundoff<double> * (1 + 1e-3L);
    for (auto& bound : result.bounds) bound *= as_float;
    add_rounding<Stored>(result, static_cast<long double>(A.indices.size()));
    return result;
  }
  std::string words() const {
    return A.name + ", " + to_string(op) + ", " + std::to_string(columns) + " columns, alpha " +
           std::to_string(alpha) + ", beta " + std::to_string(beta);
  }
};

template <class Stored, class Exec, class Plan, class Matrix>
void expect_stored(Exec const& exec, Plan const& plan, Matrix const& A, StoredCase<Stored> const& c,
                   Storages const& storages = {right, right}) {
  StoredBlock<Stored, Exec> const X(storages.X, c.X()), Y(storages.Y, c.Y());
  spmm(exec, plan, c.op, c.alpha, A, X.view, c.beta, Y.view);
  EXPECT_TRUE(matches(Y.values(), c.wanted()))
      << c.words() << ", " << to_string(storages.X) << ", " << to_string(storages.Y);
  EXPECT_TRUE(Y.surroundings_intact()) << c.words();
}

/// The bits of A X.
template <class Stored, class Exec>
std::vector<std::uint16_t> product_bits(Exec const& exec, CrsMatrix<Stored, Exec> const& A,
                                        HostBlock<double> const& X, float alpha = 1,
                                        Storage storage = right) {
  StoredBlock<Stored, Exec> const x(storage, X),
      y(right, HostBlock<double>(A.numRows(), X.columns()));
  spmm(exec, SpmmPlan(exec, A), Op::none, alpha, A, x.view, 0.0f, y.view);
  return y.bits();
}

template <class Config>
class StoredProducts : public ::testing::Test {};
TYPED_TEST_SUITE(StoredProducts, StoredConfigs, StoredNames);

TYPED_TEST(StoredProducts, AreRightForHostileMatrices) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (auto const& any : battery<double>()) {
    auto const host = rounded<Stored>(any);
    auto const A = stored_on<Stored>(exec, host);
    for (char const* const algorithm : {"auto", "rows", "segments", "segments_sorted"}) {
      SpmmPlan const plan(exec, A, {.algorithm = algorithm, .segment_length = 5});
      for (Op const op : {Op::none, Op::transpose, Op::adjoint})
        for (std::int64_t const columns : {0, 1, 7, 8, 16, 33}) {
          expect_stored(exec, plan, A, StoredCase<Stored>{host, op, columns});
          expect_stored(exec, plan, A, StoredCase<Stored>{host, op, columns, -2.5f, 0.75f});
        }
    }
  }
}

TYPED_TEST(StoredProducts, AreRightForAllWidthsAndFactors) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = rounded<Stored>(
      random_matrix<double>("short rows", 23, 17, [](std::int64_t i) { return i % 7; }));
  auto const A = stored_on<Stored>(exec, host);
  SpmmPlan const plan(exec, A);
  for (std::int64_t columns = 1; columns <= 150; ++columns)
    expect_stored(exec, plan, A, StoredCase<Stored>{host, Op::none, columns, 1.5f, -1.0f});
  expect_stored(exec, plan, A, StoredCase<Stored>{host, Op::none, 1000});
  for (float const alpha : {0.0f, 1.0f, -0.3f})
    for (float const beta : {0.0f, 1.0f, 3.0f})
      for (Op const op : {Op::none, Op::transpose})
        expect_stored(exec, plan, A, StoredCase<Stored>{host, op, 19, alpha, beta});
}

TYPED_TEST(StoredProducts, TakeBlocksOfAnyStrides) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host =
      rounded<Stored>(random_matrix<double>("wide", 40, 90, [](std::int64_t i) { return i % 11; }));
  auto const A = stored_on<Stored>(exec, host);
  for (char const* const algorithm : {"rows", "segments"}) {
    SpmmPlan const plan(exec, A, {.algorithm = algorithm, .segment_length = 3});
    for (auto const x : all_storages)
      for (auto const y : all_storages)
        for (std::int64_t const columns : {1, 8, 21})
          expect_stored(exec, plan, A, StoredCase<Stored>{host, Op::none, columns, 1, 0.5f},
                        {x, y});
  }
}

TYPED_TEST(StoredProducts, TakeWideOffsets) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = rounded<Stored>(arrow<double>(50));
  auto const A = stored_on<Stored, std::size_t>(exec, host);
  SpmmPlan const plan(exec, A);
  expect_stored(exec, plan, A, StoredCase<Stored>{host});
  expect_stored(exec, plan, A, StoredCase<Stored>{host, Op::transpose});
}

TYPED_TEST(StoredProducts, HaveTheSameBitsWithAHeldTranspose) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  Exec const exec;
  auto const uneven =
      random_matrix<double>("uneven", 60, 30, [](std::int64_t i) { return i % 13; });
  for (auto const& any : {uneven, band<double>(40)}) {  // the second is symmetric
    auto const host = rounded<Stored>(any);
    auto const A = stored_on<Stored>(exec, host);
    SpmmPlan plan(exec, A);
    StoredCase<Stored> const c{host, Op::transpose, 11};
    StoredBlock<Stored, Exec> const X(right, c.X()), Y(right, c.Y()), Z(right, c.Y());
    spmm(exec, plan, Op::transpose, 1.0f, A, X.view, 0.0f, Y.view);
    plan.hold_transpose(exec, A);
    spmm(exec, plan, Op::transpose, 1.0f, A, X.view, 0.0f, Z.view);
    EXPECT_EQ(Y.bits(), Z.bits()) << host.name;
    EXPECT_TRUE(matches(Z.values(), c.wanted())) << host.name;
  }
}

/// A column has the bits that it has alone, in every block, layout and run.
TYPED_TEST(StoredProducts, HaveTheBitsOfEachColumnAlone) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host =
      rounded<Stored>(random_matrix<double>("all", 70, 50, [](std::int64_t i) { return 3 * i; }));
  auto const A = stored_on<Stored>(exec, host);
  auto const X = StoredCase<Stored>{host, Op::none, 77}.X();
  auto const all = product_bits(exec, A, X);
  EXPECT_EQ(all, product_bits(exec, A, X));
  EXPECT_EQ(all, product_bits(exec, A, X, 1, Storage::left));
  for (std::int64_t const columns : {1, 2, 8, 13, 64}) {
    HostBlock<double> some(X.rows(), columns);
    for (std::int64_t i = 0; i < X.rows(); ++i)
      for (std::int64_t j = 0; j < columns; ++j) some(i, j) = X(i, 76 - j);
    auto const few = product_bits(exec, A, some);
    for (std::int64_t i = 0; i < A.numRows(); ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(few[static_cast<std::size_t>(i * columns + j)],
                  all[static_cast<std::size_t>(i * 77 + 76 - j)])
            << i << ", " << j << " of " << columns;
  }
}

/// Every pattern goes through a product with the identity as it is, however many columns lie
/// together.
TYPED_TEST(StoredProducts, KeepEveryNumber) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  Exec const exec;
  for (std::int64_t const columns : {1, 2, 4, 8, 16, 31, 64}) {
    std::int64_t const rows = (65536 + columns - 1) / columns;
    HostMatrix<double> identity{"identity", rows, rows, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) identity.add(i, 1), identity.end_row();
    auto const A = stored_on<Stored>(exec, identity);
    StoredBlock<Stored, Exec> const X(right, HostBlock<double>(rows, columns)),
        Y(right, HostBlock<double>(rows, columns));
    auto const x = Kokkos::create_mirror_view(X.memory);
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i).bits = static_cast<std::uint16_t>(i);
    Kokkos::deep_copy(X.memory, x);
    spmm(exec, SpmmPlan(exec, A), Op::none, 1.0f, A, X.view, 0.0f, Y.view);
    auto const given = X.bits(), made = Y.bits();
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (std::isnan(float_of<Stored>(given[i]))) {
        ASSERT_TRUE(std::isnan(float_of<Stored>(made[i]))) << given[i];
      } else if (given[i] == 0x8000) {
        ASSERT_EQ(made[i] & 0x7fff, 0);  // 0 + -0
      } else {
        ASSERT_EQ(made[i], given[i]) << columns;
      }
    }
  }
}

/// Products of two numbers are exact in float and rounded once: to subnormal numbers, to the even
/// one of two, beyond the greatest, to infinity and NaN.
TYPED_TEST(StoredProducts, RoundOnce) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  Random random(3);
  std::int64_t const n = 5000;
  HostMatrix<double> diagonal{"diagonal", n, n, {0}, {}, {}};
  auto const any = [&] {
    for (;;) {
      float const number = float_of<Stored>(static_cast<std::uint16_t>(random.bits()));
      if (!std::isnan(number)) return static_cast<double>(number);
    }
  };
  for (std::int64_t i = 0; i < n; ++i) diagonal.add(i, any()), diagonal.end_row();
  auto const A = stored_on<Stored>(exec, diagonal);
  for (std::int64_t const columns : {1, 3, 8, 24}) {
    HostBlock<double> X(n, columns);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < columns; ++j) X(i, j) = any();
    auto const made = product_bits(exec, A, X);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        auto const a = static_cast<float>(diagonal.values[static_cast<std::size_t>(i)]);
        Stored const wanted(0.0f + a * static_cast<float>(X(i, j)));
        auto const bits = made[static_cast<std::size_t>(i * columns + j)];
        if (std::isnan(float(wanted)))
          ASSERT_TRUE(std::isnan(float_of<Stored>(bits))) << a << " * " << X(i, j);
        else  // zeros may differ in sign, where a product and its sum are rounded together
          ASSERT_EQ(float_of<Stored>(bits), float(wanted)) << a << " * " << X(i, j);
      }
  }
}

/// Ones summed in 16 bits would stop growing at 2048, or at 256; and what is too large on the way
/// would stay infinite.
TYPED_TEST(StoredProducts, SumInFloat) {
  using Stored = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  HostMatrix<double> sums{"sums", 2, 5000, {0}, {}, {}};
  for (std::int64_t k = 0; k < 5000; ++k) sums.add(k, 1);
  sums.end_row();
  for (double const value : {60000.0, 60000.0, 60000.0, -60000.0, -60000.0})
    sums.add(0, rounded<Stored>(value));
  sums.end_row();
  auto const A = stored_on<Stored>(exec, sums);
  for (std::int64_t const columns : {1, 8, 9}) {
    auto const made = product_bits(exec, A, HostBlock<double>(5000, columns, 1.0));
    auto const n = static_cast<std::size_t>(columns);
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_EQ(made[j], Stored(5000.0f).bits);
      EXPECT_EQ(made[n + j], Stored(60000.0f).bits);
    }
    // a factor may bring back what would overflow
    EXPECT_EQ(product_bits(exec, A, HostBlock<double>(5000, columns, 64.0), 0.125f)[0],
              Stored(40000.0f).bits);
  }
}

TYPED_TEST(StoredProducts, RefuseWhatDoesNotFit) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = random_matrix<double>("A", 9, 7, [](std::int64_t) { return 3; });
  auto const A = stored_on<Stored>(exec, host), B = stored_on<Stored>(exec, host);
  SpmmPlan const plan(exec, A);
  std::vector<StoredBlock<Stored, Exec>> blocks;  // which keep the memory that the views show
  auto const block = [&](std::int64_t rows, std::int64_t columns) {
    return blocks.emplace_back(right, HostBlock<double>(rows, columns)).view;
  };
  auto const message = [&](auto const& P, auto const& matrix, auto const& X, auto const& Y) {
    return message_of([&] { spmm(exec, P, Op::none, 1.0f, matrix, X, 0.0f, Y); });
  };
  EXPECT_THAT(message(plan, A, block(9, 4), block(9, 4)),
              HasSubstr("blockspan::spmm: X must have as many rows as op(A) has columns (op(A): 9 "
                        "x 7, op none; X: 9 x 4; Y: 9 x 4)"));
  EXPECT_THAT(message(plan, A, block(7, 4), block(7, 4)), HasSubstr("Y must have as many rows"));
  EXPECT_THAT(message(plan, A, block(7, 4), block(9, 3)), HasSubstr("same number of columns"));
  auto const X = block(9, 4);
  EXPECT_THAT(message(plan, A, Kokkos::subview(X, std::pair(0, 7), Kokkos::ALL), X),
              HasSubstr("Y must not overlap X"));
  EXPECT_THAT(message(plan, B, block(7, 4), block(9, 4)), HasSubstr("a pattern in other arrays"));
  SpmmPlan const groups(exec, A, {.algorithm = "groups"});
  EXPECT_THAT(message(groups, A, block(7, 4), block(9, 4)),
              HasSubstr("groups has no kernel for 16-bit scalars"));
}

/// A plan of the same graph in double precision serves as well, whatever it has chosen.
TYPED_TEST(StoredProducts, TakeThePlanOfAnotherScalar) {
  using Exec = typename TypeParam::Exec;
  using Stored = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = rounded<Stored>(shared_columns<double>(
      "groups", 40, 90, [](std::int64_t) { return 4; }, [](std::int64_t) { return 9; }));
  auto const A = stored_on<Stored>(exec, host);
  CrsMatrix<double, Exec> const as_double(
      "A", A.numCols(), Kokkos::View<double*, Exec>("values", host.values.size()), A.graph);
  SpmmPlan const plan(exec, as_double), own(exec, A);
  expect_stored(exec, plan, A, StoredCase<Stored>{host, Op::none, 16});
  EXPECT_THAT(std::string(own.algorithm()),
              ::testing::AnyOf(HasSubstr("rows"), HasSubstr("segments")));
}

/// Whatever other scalars would take: groups (elasticity), tiles (a nearly full matrix), mostly
/// empty rows, windows.
TEST(StoredPlans, ChooseWholeRowsOrSegments) {
  namespace bd = blockspan::products;
  auto const id = [](RowStatistics const& rows, int columns, bool host, std::size_t bytes) {
    bd::DeviceFacts const device{host, !host, !host, !host};
    return choose_variant(rows, {rows.rows / 3, rows.nonzeros / 3}, {rows.rows / 8, rows.rows / 8},
                          {!host, !host}, {.columns = columns}, bd::scalar_of_bytes(bytes), device)
        .variant->id;
  };
  RowStatistics const elasticity{255552, 255552, 19773000, 0, 24, 81, 20087000},
      full{8192, 4096, 8192 * 410, 0, 380, 440, 8192 * 430},
      empty{1 << 20, 1 << 20, 1 << 18, (1 << 20) - (1 << 17), 0, 2, 1 << 19},
      graph{1 << 18, 1 << 18, 4 << 20, 1 << 16, 0, 20000, 64 << 20};
  int others = 0;
  for (auto const& rows : {elasticity, full, empty, graph})
    for (int const columns : {1, 8, 64})
      for (bool const host : {false, true}) {
        EXPECT_THAT(id(rows, columns, host, sizeof(half)),
                    ::testing::AnyOf("rows", "segments", "segments_sorted"));
        auto const of_double = id(rows, columns, host, sizeof(double));
        others += of_double != "rows" && !of_double.starts_with("segments");
      }
  EXPECT_GE(others, 6);  // or this tests nothing
}

}  // namespace
}  // namespace blockspan::test
