// Large matrices whose columns are near their rows: devices read the distances in 16 bits.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Config>
class NarrowColumns : public ::testing::Test {};
TYPED_TEST_SUITE(NarrowColumns, Configs, ConfigNames);

/// Rows of eleven entries: two of them, in the middle or at the ends, as far to the left and to the
/// right as `distance`, where there are such columns.
template <class Scalar>
HostMatrix<Scalar> with_distance(std::int64_t rows, std::int64_t distance,
                                 bool in_the_middle = false) {
  Random random(3);
  HostMatrix<Scalar> A{"with_distance", rows, rows + 100, {0}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    std::array<std::int64_t, 11> columns{i - distance, i,     i + 1,  i + 2,  i + 3,       i + 4,
                                         i + 5,        i + 6, i + 50, i + 99, i + distance};
    if (in_the_middle)
      std::swap(columns.front(), columns[5]), std::swap(columns.back(), columns[6]);
    for (std::int64_t const column : columns)
      if (column >= 0 && column < A.columns) A.add(column, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

TYPED_TEST(NarrowColumns, AreRightUpToTheLastDistance) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (std::int64_t const distance : {32767, 32768}) {
    auto const host = with_distance<Scalar>(60000, distance, true);
    auto const A = to_device(exec, host);
    bool const may_be = distance <= 32767 && !kernels::runs_on_host_v<Exec>;
    auto const is_narrow = [](auto const& plan) {
      return plan.explain(8).find("in 16 bits") != std::string::npos;
    };
    EXPECT_EQ(is_narrow(SpmmPlan(exec, to_device(exec, with_distance<Scalar>(60000, distance)))),
              may_be);
    for (auto const* algorithm : {"auto", "single_columns", "thread_per_element"}) {
      SpmmPlan const plan(exec, A, {.algorithm = algorithm});
      EXPECT_EQ(is_narrow(plan), may_be) << algorithm;
      for (int const columns : {1, 3, 8}) {
        if (kernels::runs_on_host_v<Exec> && columns != 3) continue;  // no distances there
        ProductCase<Scalar> const c{host, Op::conjugate, columns, Scalar(1.5)};
        for (auto const storages : {Storages{right, right}, Storages{left, left}})
          expect_spmm(exec, plan, A, c, storages);
      }
    }
  }
}

/// As the rows of one of several ranks are: far from the diagonal, and near each other's columns.
TYPED_TEST(NarrowColumns, AreRightForRowsBesideTheirColumns) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (std::int64_t const distance : {32767, 32768}) {
    auto host = with_distance<Scalar>(60000, distance);
    for (auto& column : host.indices) column += 40000;
    host.columns += 40000;
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A);
    EXPECT_EQ(plan.explain(8).find("in 16 bits") != std::string::npos,
              distance <= 32767 && !kernels::runs_on_host_v<Exec>);
    for (int const columns : {1, 8}) {
      if (kernels::runs_on_host_v<Exec> && columns != 8) continue;
      ProductCase<Scalar> const c{host, Op::none, columns, Scalar(1.5)};
      for (auto const storages : {Storages{right, right}, Storages{left, left}})
        expect_spmm(exec, plan, A, c, storages);
    }
  }
}

TYPED_TEST(NarrowColumns, ServeStoredTransposes) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = with_distance<Scalar>(60000, 400);
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  plan.hold_transpose(exec, A);
  spoil_values(A);
  for (int const columns : {1, 4}) {
    ProductCase<Scalar> const c{host, Op::adjoint, columns};
    EXPECT_TRUE(matches(product(exec, plan, A, c),
                        reference_product(c.op, c.alpha, host, c.X(), c.beta, c.Y())))
        << c.words();
  }
}

}  // namespace
}  // namespace blockspan::test
