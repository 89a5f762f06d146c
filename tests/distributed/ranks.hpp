#pragma once

#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/communication/mpi.hpp>
#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>

#include "support/types.hpp"

// Compiled once, in main.cpp: a fifth of the time of a file here.
#define BLOCKSPAN_RANKS(Scalar, Exec)                               \
  extern template class blockspan::DistributedMatrix<Scalar, Exec>; \
  extern template class blockspan::DistributedOperator<Scalar, Exec>;
BLOCKSPAN_TEST_EACH(BLOCKSPAN_RANKS)
#undef BLOCKSPAN_RANKS

namespace blockspan::test {

using Exec = AnyBackend;

Communicator const*& all_ranks();
inline Communicator const& world() { return *all_ranks(); }

/// Matrices of the tests of products.
inline constexpr char const* product_specs[] = {"laplace7:18x17x16", "laplace5:80x70",
                                                "fixed:4000x4000:9", "rmat:11:4:symmetric",
                                                "elasticity:10"};

/// A plan whose bits do not depend on the number of ranks.
inline SpmmPlanOptions whole_rows() { return {.columns = 8, .algorithm = "rows"}; }

/// Rows [first, last) of a matrix that every rank has whole.
template <class Matrix>
LocalRows<typename Matrix::non_const_value_type> rows_of(Matrix const& A, std::int64_t first,
                                                         std::int64_t last) {
  LocalRows<typename Matrix::non_const_value_type> rows;
  for (auto i = first; i < last; ++i) {
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k) {
      rows.columns.push_back(A.graph.entries(k));
      rows.values.push_back(A.values(k));
    }
    rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }
  return rows;
}

/// Cuts that are multiples of nothing, one rank being without rows where there are three or more.
inline std::vector<std::int64_t> odd_cuts(std::int64_t rows) {
  int const size = world().size();
  std::vector<std::int64_t> cuts;
  for (int r = 0; r <= size; ++r) cuts.push_back(rows * r * r / (size * size));
  if (size > 2) cuts[2] = cuts[1];
  return cuts;
}

/// This rank's rows of a block that all ranks have whole.
template <class Scalar>
Block<Scalar, Exec> local_rows(RowSpace const& space, Block<Scalar, Exec> const& whole) {
  auto const rank = static_cast<std::size_t>(world().rank());
  std::pair const range(space.cuts()[rank], space.cuts()[rank + 1]);
  Block<Scalar, Exec> const local("local", static_cast<std::size_t>(range.second - range.first),
                                  whole.extent(1));
  Kokkos::deep_copy(local, Kokkos::subview(whole, range, Kokkos::ALL));
  return local;
}

/// The rows of all ranks, on all of them.
template <class Scalar>
Block<Scalar, Exec> whole_block(RowSpace const& space, Block<Scalar, Exec> const& local) {
  Block<Scalar, Exec> const whole(
      "whole",
      static_cast<std::size_t>(space.global_rows(static_cast<std::int64_t>(local.extent(0)))),
      local.extent(1));
  gather_block(space, local, whole);
  space.communicator().broadcast(std::span(whole.data(), whole.size()), 0);
  return whole;
}

template <class View>
std::vector<typename View::non_const_value_type> entries(View const& block) {
  return {block.data(), block.data() + block.size()};
}

}  // namespace blockspan::test
