#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"

// For tests of what a plan keeps of the values. To see that the copies are read, A's own are
// spoiled.

namespace blockspan::test {

/// Y of the product, started from the case's own.
template <class Scalar, class Exec, class Plan, class Matrix>
HostBlock<Scalar> product(Exec const& exec, Plan const& plan, Matrix const& A,
                          ProductCase<Scalar> const& c) {
  auto const X = make_block(exec, right, c.X());
  auto const Y = make_block(exec, right, c.Y());
  spmm(exec, plan, c.op, c.alpha, A, X.const_view(), c.beta, Y.view);
  exec.fence("Blockspan::test");
  return Y.values();
}

/// Writes other values into A's array.
template <class Matrix, class Scalar>
void set_values(Matrix const& A, std::vector<Scalar> const& values) {
  auto const mirror = Kokkos::create_mirror_view(A.values);
  for (std::size_t k = 0; k < values.size(); ++k) mirror(k) = values[k];
  Kokkos::deep_copy(A.values, mirror);
}

/// A matrix of A's pattern, which it shares, with an array of values of its own.
template <class Matrix, class Scalar>
Matrix with_values(Matrix const& A, std::vector<Scalar> const& values) {
  typename Matrix::values_type const own("Blockspan::test", values.size());
  Matrix const result("of A's pattern", A.numRows(), A.numCols(), A.nnz(), own, A.graph.row_map,
                      A.graph.entries);
  set_values(result, values);
  return result;
}

/// Products by a plan that holds a copy of the values of an array that is gone: each of some later
/// arrays, one of which would be in its place, gives the product of its own values, those of
/// `later`.
template <class Exec, class Plan, class Matrix, class Scalar>
void expect_later_values(Exec const& exec, Plan const& plan, Matrix const& A,
                         HostMatrix<Scalar> const& later, ProductCase<Scalar> const& c) {
  auto const expected = reference_product(c.op, c.alpha, later, c.X(), c.beta, c.Y());
  std::vector<Matrix> others;  // which stay
  for (int i = 0; i < 16; ++i) {
    others.push_back(with_values(A, later.values));
    EXPECT_TRUE(matches(product(exec, plan, others.back(), c), expected));
  }
}

template <class Matrix>
void spoil_values(Matrix const& A) {
  using Scalar = typename Matrix::non_const_value_type;
  set_values(A, std::vector<Scalar>(static_cast<std::size_t>(A.nnz()), not_a_number<Scalar>()));
}

/// A band of five diagonals with a(j, i) = mirrored(a(i, j)).
template <class Scalar, class Mirrored>
HostMatrix<Scalar> mirrored_band(std::int64_t n, Mirrored mirrored) {
  Random random(8);
  HostMatrix<Scalar> A{"mirrored band", n, n, {0}, {}, {}};
  std::vector<std::vector<Scalar>> upper(static_cast<std::size_t>(n));
  for (auto& row : upper)
    for (int k = 0; k < 3; ++k) row.push_back(random.value<Scalar>());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 2); j < std::min(n, i + 3); ++j)
      A.add(j, j > i ? upper[i][j - i] : mirrored(upper[j][i - j]));
    A.end_row();
  }
  return A;
}

}  // namespace blockspan::test
