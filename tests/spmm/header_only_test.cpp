// Ordinals and offsets that the library has no instance of, compiled from the headers. Alone in
// this file, because it compiles the kernels.
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include <blockspan/blockspan.hpp>
#include <blockspan/published/header_only.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"

namespace blockspan::test {
namespace {

TEST(HeaderOnly, OrdinalsAndOffsetsMayHave64Bits) {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  auto const host = arrow<double>(40);
  auto const A = to_device<std::int64_t, std::int64_t>(exec, host);
  EXPECT_THROW(SpmmPlan(exec, A, {.algorithm = "merge"}), Error);
  register_published<Exec, double, std::int64_t>();
  for (auto const* algorithm : {"auto", "segments", "merge"}) {
    SpmmPlan const plan(exec, A, {.algorithm = algorithm, .segment_length = 5});
    for (Op const op : {Op::none, Op::transpose}) {
      ProductCase<double> const c{host, op, 6, 2.0, 0.0};
      expect_spmm(exec, plan, A, c);
    }
    auto const X = make_block(exec, right, random_block<double>(40, 6, 1));
    auto const Y = make_block(exec, right, random_block<double>(40, 6, 2));
    Kokkos::View<double*> const x_dot_y("Blockspan::test", 6), y_dot_y("Blockspan::test", 6);
    spmm_dots(exec, plan, 1.0, A, X.view, 0.0, Y.view, x_dot_y, y_dot_y);
    auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y_dot_y);
    long double sum = 0;
    for (std::int64_t i = 0; i < 40; ++i) sum += extended(Y.values()(i, 5)) * Y.values()(i, 5);
    EXPECT_NEAR(dots(5), static_cast<double>(sum), 1e-12 * static_cast<double>(sum));
  }
}

/// A team of a device stages the entries of rows of column-major X where its scratch has room for
/// them: with these ordinals for less of them.
TEST(HeaderOnly, ColumnMajorBlocksMayHaveOrdinalsOf64Bits) {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  constexpr std::int64_t rows = 600;
  for (std::int64_t const row : {9, 22, 27}) {
    Random random(5);
    HostMatrix<double> host{"band", rows, rows, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(0, i - 4); j < std::min(rows, i - 4 + row); ++j)
        host.add(j, random.value<double>());
      host.end_row();
    }
    auto const A = to_device<std::int64_t, std::int64_t>(exec, host);
    SpmmPlan const plan(exec, A);
    ProductCase<double> const c{host, Op::none, 20, 2.0, -1.0};
    expect_spmm(exec, plan, A, c, Storages{left, left});
  }
}

}  // namespace
}  // namespace blockspan::test
