#pragma once

#include <cstdint>
#include <string>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/reference.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"

namespace blockspan::test {

/// One product: what is multiplied, without where it lies.
template <class Scalar>
struct ProductCase {
  HostMatrix<Scalar> const& A;
  Op op = Op::none;
  std::int64_t columns = 4;
  Scalar alpha = Scalar(1);
  Scalar beta = Scalar(0);

  HostBlock<Scalar> X() const {
    auto const rows = transposes(op) ? A.rows : A.columns;
    return alpha == Scalar(0) ? HostBlock<Scalar>(rows, columns, not_a_number<Scalar>())
                              : random_block<Scalar>(rows, columns, 11);
  }
  HostBlock<Scalar> Y() const {
    auto const rows = transposes(op) ? A.columns : A.rows;
    return beta == Scalar(0) ? HostBlock<Scalar>(rows, columns, not_a_number<Scalar>())
                             : random_block<Scalar>(rows, columns, 12);
  }
  std::string words() const {
    return A.name + ", " + to_string(op) + ", " + std::to_string(columns) + " columns";
  }
};

/// Runs `multiply(X, Y)` with blocks in the storages asked for, and judges Y.
template <Storage x_storage, Storage y_storage, class Scalar, class Exec, class Multiply>
void expect_product(Exec const& exec, ProductCase<Scalar> const& c, Multiply const& multiply) {
  auto const x_values = c.X();
  auto const y_values = c.Y();
  auto const X = make_block<x_storage>(exec, x_values);
  auto const Y = make_block<y_storage>(exec, y_values);
  multiply(X.const_view(), Y.view);
  exec.fence("Blockspan::test");
  EXPECT_TRUE(
      matches(Y.values(), reference_product(c.op, c.alpha, c.A, x_values, c.beta, y_values)))
      << c.words() << ", X " << to_string(x_storage) << ", Y " << to_string(y_storage) << ", alpha "
      << magnitude(c.alpha) << ", beta " << magnitude(c.beta);
  EXPECT_TRUE(Y.surroundings_intact()) << c.words();
}

/// Calls f(integral_constant X's storage, integral_constant Y's storage): the `turn`-th of six
/// pairs.
template <class Function>
void with_storages(std::size_t turn, Function const& f) {
  using enum Storage;
  auto const call = [&]<Storage x, Storage y>() {
    f(std::integral_constant<Storage, x>(), std::integral_constant<Storage, y>());
  };
  switch (turn % 6) {
    case 0:
      return call.template operator()<right, right>();
    case 1:
      return call.template operator()<left, left>();
    case 2:
      return call.template operator()<right, left>();
    case 3:
      return call.template operator()<strided, padded_right>();
    case 4:
      return call.template operator()<padded_right, strided>();
    default:
      return call.template operator()<padded_left, right>();
  }
}

}  // namespace blockspan::test
