#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

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

/// Y = alpha op(A) X + beta Y of blocks in any storage.
template <class Scalar, class Exec>
using Multiply = std::function<void(typename TestBlock<Scalar, Exec>::ConstView const& X,
                                    typename TestBlock<Scalar, Exec>::View const& Y)>;

/// Runs `multiply(X, Y)` with blocks in the storages asked for, and judges Y.
template <class Scalar, class Exec>
void expect_product(Exec const& exec, Storages storages, ProductCase<Scalar> const& c,
                    std::type_identity_t<Multiply<Scalar, Exec>> const& multiply);

/// The same with the product by a plan.
template <class Exec, class Plan, class Matrix, class Scalar>
void expect_spmm(Exec const& exec, Plan const& plan, Matrix const& A, ProductCase<Scalar> const& c,
                 Storages storages = {right, right}) {
  expect_product(exec, storages, c, [&](auto const& X, auto const& Y) {
    spmm(exec, plan, c.op, c.alpha, A, X, c.beta, Y);
  });
}

}  // namespace blockspan::test
