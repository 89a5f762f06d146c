// Ordinals and offsets that the library has no instance of, compiled from the headers. Alone in
// this file, because it compiles the kernels.
#include <gtest/gtest.h>

#include <blockspan/spmm/header_only.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"

namespace blockspan::test {
namespace {

TEST(HeaderOnly, OrdinalsAndOffsetsMayHave64Bits) {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  auto const host = arrow<double>(40);
  auto const A = to_device<std::int64_t, std::int64_t>(exec, host);
  for (auto const* algorithm : {"auto", "segments"}) {
    SpmmPlan const plan(exec, A, {.algorithm = algorithm, .piece_length = 5});
    for (Op const op : {Op::none, Op::transpose}) {
      ProductCase<double> const c{host, op, 6, 2.0, 0.0};
      expect_product(exec, Storages{right, right}, c, [&](auto const& X, auto const& Y) {
        spmm(exec, plan, op, c.alpha, A, X, c.beta, Y);
      });
    }
  }
}

}  // namespace
}  // namespace blockspan::test
