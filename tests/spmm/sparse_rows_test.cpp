// Matrices of mostly empty rows: on devices the rows without entries are filled alongside the
// products of the others, where these are short.
#include <algorithm>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/launches.hpp"
#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Config>
class SparseRows : public ::testing::Test {};
TYPED_TEST_SUITE(SparseRows, Configs, ConfigNames);

/// About one row in four has entries, one to three of them; some neighbours all have, some have
/// none; the row in the middle has `longest`, the last one has one.
template <class Scalar>
HostMatrix<Scalar> sparse_rows(std::int64_t rows, std::int64_t longest) {
  Random random(7);
  HostMatrix<Scalar> A{"sparse rows", rows, 500, {0}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    bool const all = i / 32 % 5 == 1, none = i / 32 % 5 == 3;
    std::int64_t length = all || (!none && i % 4 == 1) ? 1 + i % 3 : 0;
    if (i == rows / 2) length = longest;
    if (i == rows - 1) length = 1;
    for (std::int64_t k = 0; k < length; ++k)
      A.add((i * 37 + k * 11) % A.columns, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

TYPED_TEST(SparseRows, AreRightForAllWidths) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (std::int64_t const rows : {1, 31, 33, 1000}) {
    auto const host = sparse_rows<Scalar>(rows, 3);
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.algorithm = "nonempty_rows"});
    for (Op const op : {Op::none, Op::conjugate, Op::adjoint})
      for (int const columns : {1, 2, 4, 6, 8, 12, 24, 64, 70, 132})
        for (Scalar const beta : {Scalar(0), Scalar(1), Scalar(-0.5)}) {
          ProductCase<Scalar> const c{host, op, columns, Scalar(1.5), beta};
          expect_spmm(exec, plan, A, c);
        }
  }
}

TYPED_TEST(SparseRows, OfAnyStorageAndLengthAreRight) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (std::int64_t const longest : {32, 33, 400}) {
    auto const host = sparse_rows<Scalar>(700, longest);
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.algorithm = "nonempty_rows"});
    for (auto const& storages : mixed_storages)
      for (int const columns : {4, 7}) {
        ProductCase<Scalar> const c{host, Op::none, columns, Scalar(2), Scalar(0.25)};
        expect_spmm(exec, plan, A, c, storages);
      }
  }
}

TYPED_TEST(SparseRows, AreFilledInTheSameLaunchWhereTheyAreShort) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (std::int64_t const longest : {32, 33}) {
    auto const host = sparse_rows<Scalar>(600, longest);
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.algorithm = "nonempty_rows"});
    ProductCase<Scalar> const c{host, Op::none, 8};
    auto const launches = [&] {
      auto const seen = launches_of([&] { product(exec, plan, A, c); });
      std::string const label = "Blockspan::spmm::nonempty_rows";
      return std::count_if(seen.begin(), seen.end(),
                           [&](auto const& each) { return each.label.rfind(label, 0) == 0; });
    };
    bool const together = kernels::lanes_exchange_v<Exec> && longest <= 32;
    EXPECT_EQ(launches(), together ? 1 : 2);
  }
}

}  // namespace
}  // namespace blockspan::test
