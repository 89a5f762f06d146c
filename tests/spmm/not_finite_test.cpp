// alpha and beta that are NaN or infinite: every kernel gives a row without entries, whose sum is
// zero, what it gives the others.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/spmm/sddmm.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class NotFinite : public ::testing::Test {};
TYPED_TEST_SUITE(NotFinite, Configs, ConfigNames);

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Scalar>
bool is_nan(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return std::isnan(x.real()) && std::isnan(x.imag());
  else
    return std::isnan(x);
}

template <class Scalar>
bool is_finite_number(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  else
    return std::isfinite(x);
}

/// Whether the rows of op(A) have no entries.
template <class Scalar>
std::vector<bool> empty_rows(HostMatrix<Scalar> const& A, Op op) {
  std::vector<bool> empty(static_cast<std::size_t>(transposes(op) ? A.columns : A.rows), true);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = static_cast<std::size_t>(A.offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(A.offsets[static_cast<std::size_t>(i) + 1]); ++k)
      empty[static_cast<std::size_t>(transposes(op) ? A.indices[k] : i)] = false;
  return empty;
}

/// Y is what the rules of IEEE 754 make of alpha * sum + beta * y.
template <class Scalar>
void expect_rules(ProductCase<Scalar> const& c, HostBlock<Scalar> const& Y) {
  bool const is_nan_factor = is_nan(c.alpha) || is_nan(c.beta);
  auto const empty = empty_rows(c.A, c.op);
  for (std::int64_t i = 0; i < Y.rows(); ++i)
    for (std::int64_t j = 0; j < Y.columns(); ++j) {
      auto const& y = Y(i, j);
      if (is_nan_factor || (empty[static_cast<std::size_t>(i)] && !is_finite_number(c.alpha)))
        ASSERT_TRUE(is_nan(y)) << c.words() << ", row " << i << ": " << y;
      else
        ASSERT_FALSE(is_finite_number(y)) << c.words() << ", row " << i << ": " << y;
    }
}

TYPED_TEST(NotFinite, FactorsGiveRowsWithoutEntriesWhatTheyGiveOthers) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const nan = not_a_number<Scalar>();
  std::vector<std::pair<Scalar, Scalar>> const factors{{nan, Scalar(0)},
                                                       {nan, Scalar(1)},
                                                       {nan, Scalar(-0.5)},
                                                       {Scalar(infinity), Scalar(0)},
                                                       {Scalar(-infinity), Scalar(1)},
                                                       {Scalar(2), nan},
                                                       {Scalar(0), nan},
                                                       {Scalar(infinity), Scalar(0.25)},
                                                       {Scalar(2), Scalar(infinity)}};
  bool any_empty = false;
  for (auto const& host : battery<Scalar>()) {
    auto const A = to_device(exec, host);
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SCOPED_TRACE(variant.id);
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 7});
      for (Op const op : all_ops)
        for (std::int64_t const columns : {4, 8})
          for (auto const& [alpha, beta] : factors) {
            ProductCase<Scalar> const c{host, op, columns, alpha, beta};
            TestBlock<Scalar, Exec> const X(exec, right, c.X()), Y(exec, right, c.Y());
            spmm(exec, plan, op, alpha, A, X.const_view(), beta, Y.view);
            exec.fence();
            expect_rules(c, Y.values());
          }
    }
    for (bool const empty : empty_rows(host, Op::none)) any_empty |= empty;
  }
  EXPECT_TRUE(any_empty);
}

/// Rows without entries are in the sums of products as well, whoever fills them.
TYPED_TEST(NotFinite, FactorsOfRowsWithoutEntriesAreInTheSums) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A =
      to_device(exec, random_matrix<Scalar>("no entries", 40, 40, [](std::int64_t) { return 0; }));
  for (auto const* id : {"auto", "rows", "segments", "nonempty_rows", "groups"}) {
    SpmmPlan const plan(exec, A, {.algorithm = id});
    for (Scalar const alpha : {not_a_number<Scalar>(), Scalar(infinity)}) {
      TestBlock<Scalar, Exec> const X(exec, right, random_block<Scalar>(40, 4, 1)),
          Y(exec, right, random_block<Scalar>(40, 4, 2));
      Kokkos::View<Scalar*, Exec> const xy("xy", 4);
      Kokkos::View<real_t<Scalar>*, Exec> const yy("yy", 4);
      spmm_dots(exec, plan, alpha, A, X.const_view(), Scalar(0), Y.view, xy, yy);
      auto const products = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), xy);
      auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), yy);
      for (int j = 0; j < 4; ++j)
        ASSERT_TRUE(is_nan(products(j)) && is_nan(squares(j))) << id << ", " << alpha;
    }
  }
}

TYPED_TEST(NotFinite, FactorsOfSumsOfNoColumnsAreTakenToo) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = band<Scalar>(40);
  auto const A = to_device(exec, host);
  for (int const columns : {0, 4})
    for (Scalar const beta : {Scalar(0), Scalar(1)}) {
      TestBlock<Scalar, Exec> const X(exec, right, random_block<Scalar>(40, columns, 1)),
          Y(exec, right, random_block<Scalar>(40, columns, 2));
      Kokkos::View<Scalar*, Exec> const values("values", host.values.size());
      sddmm(exec, Conjugated::second, not_a_number<Scalar>(), A, X.const_view(), Y.const_view(),
            beta, values);
      auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
      for (std::size_t k = 0; k < found.extent(0); ++k) ASSERT_TRUE(is_nan(found(k))) << columns;
    }
}

}  // namespace
}  // namespace blockspan::test
