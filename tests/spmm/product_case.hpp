#pragma once

#include <cstdint>
#include <string>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/reference.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"

namespace blockspan::test {

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate, Op::adjoint};

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

/// How X and Y of one product lie in memory.
struct Storages {
  Storage X, Y;
};
using enum Storage;
inline constexpr Storages mixed_storages[] = {{right, right},          {left, left},
                                              {right, left},           {strided, padded_right},
                                              {padded_right, strided}, {padded_left, right}};

/// Runs `multiply(X, Y)` with blocks in the storages asked for, and judges Y.
template <class Scalar, class Exec, class Multiply>
void expect_product(Exec const& exec, Storages storages, ProductCase<Scalar> const& c,
                    Multiply const& multiply) {
  auto const x_values = c.X();
  auto const y_values = c.Y();
  auto const X = make_block(exec, storages.X, x_values);
  auto const Y = make_block(exec, storages.Y, y_values);
  multiply(X.const_view(), Y.view);
  exec.fence("Blockspan::test");
  EXPECT_TRUE(
      matches(Y.values(), reference_product(c.op, c.alpha, c.A, x_values, c.beta, y_values)))
      << c.words() << ", X " << to_string(storages.X) << ", Y " << to_string(storages.Y)
      << ", alpha " << magnitude(c.alpha) << ", beta " << magnitude(c.beta);
  EXPECT_TRUE(Y.surroundings_intact()) << c.words();
}

}  // namespace blockspan::test
