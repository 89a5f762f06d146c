#pragma once

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/matrix_operator.hpp>

#include "spmm/battery.hpp"
#include "spmm/reference.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"

namespace blockspan::test {

/// Both products of every square matrix of the battery and widths, each within the bound of theory:
/// so neither is further from the other than twice that.
template <class Scalar, class Exec, class Make>
void expect_agreement(Exec const& exec, Make const& make_peer,
                      std::vector<HostMatrix<Scalar>> const& matrices = battery<Scalar>()) {
  for (auto const& host : matrices) {
    if (host.rows != host.columns || host.rows == 0) continue;
    auto const A = to_device(exec, host);
    auto const own = matrix_operator(exec, A);
    std::unique_ptr<LinearOperator<Scalar, Exec>> const peer = make_peer(A);
    EXPECT_EQ(peer->rows(), own.rows());
    EXPECT_EQ(peer->facts().norm_bound, own.facts().norm_bound);
    for (int const width : {1, 2, 3, 4, 8, 16, 17, 32}) {
      auto const x = random_block<Scalar>(host.columns, width, 1);
      HostBlock<Scalar> const y(host.rows, width, not_a_number<Scalar>());
      auto const wanted = reference_product(Op::none, Scalar(1), host, x, Scalar(0), y);
      LinearOperator<Scalar, Exec> const* const operators[] = {&own, peer.get()};
      for (auto const* op : operators) {
        auto const X = make_block(exec, Storage::right, x);
        auto const Y = make_block(exec, Storage::right, y);
        ConstBlock<Scalar, Exec> const x_block(X.view.data(), host.columns, width);
        Block<Scalar, Exec> const y_block(Y.view.data(), host.rows, width);
        op->apply(exec, x_block, y_block);
        exec.fence("Blockspan::test");
        EXPECT_TRUE(matches(Y.values(), wanted))
            << op->name() << ", " << host.name << ", " << width << " columns";
      }
    }
  }
}

}  // namespace blockspan::test
