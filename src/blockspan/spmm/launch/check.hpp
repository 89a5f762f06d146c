#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <blockspan/blocks/overlap.hpp>
#include <blockspan/spmm/prepared/row_panels.hpp>
#include <blockspan/spmm/run/multiply.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::products {

/// The rows and columns of blocks are found as ordinals, the values of a block as ints.
template <class Ordinal>
void check_blocks(std::string_view where, PatternRef<void, Ordinal> const& A) {
  constexpr std::int64_t most = std::numeric_limits<Ordinal>::max(), most_values = INT32_MAX;
  require(A.block >= 1 && A.block <= most_values / A.block && A.columns <= most / A.block &&
              A.rows <= most / A.block,
          where, "blocks of ", A.block, " x ", A.block, " in ", A.rows, " x ", A.columns,
          " rows and columns of blocks are more than can be counted");
}

/// Kernels of devices count rows as ints, and rows of X with 32 bits, whatever the ordinals.
template <class Ordinal>
void check_rows(std::string_view where, PatternRef<int, Ordinal> const& A, bool on_host) {
  require(on_host || (A.rows <= INT32_MAX && A.columns <= std::int64_t{UINT32_MAX}), where, A.rows,
          " x ", A.columns, " rows and columns are more than kernels of devices can count");
}

template <class Scalar, class Storage, class Ordinal>
void check_product(std::string_view where, PatternRef<void, Ordinal> const& A,
                   Product<Scalar, Storage> const& product) {
  auto const& X = product.X;  // Clang 16 captures no structured binding where OpenMP is on
  auto const& Y = product.Y;
  check_blocks(where, A);
  std::int64_t const rows = transposes(product.op) ? A.vector_columns() : A.vector_rows();
  std::int64_t const columns = transposes(product.op) ? A.vector_rows() : A.vector_columns();
  auto const shapes = [&](auto const& sentence) {
    fail(where, sentence, " (op(A): ", rows, " x ", columns, ", op ", to_string(product.op),
         "; X: ", X.rows, " x ", X.columns, "; Y: ", Y.rows, " x ", Y.columns, ")");
  };
  if (X.rows != columns) shapes("X must have as many rows as op(A) has columns");
  if (Y.rows != rows) shapes("Y must have as many rows as op(A)");
  if (X.columns != Y.columns) shapes("X and Y must have the same number of columns");
  if (may_overlap<Storage>(X, Y)) shapes("Y must not overlap X");
}

template <class Exec, class Ordinal>
void check_plan(std::string_view where, PlanPanels<Exec, Ordinal> const& plan,
                PatternRef<void, Ordinal> const& A) {
  auto const& known = plan.given;
  require(known.rows == A.rows && known.columns == A.columns && known.entries == A.entries, where,
          "the plan was made for another pattern (plan: ", known.rows, " x ", known.columns, ", ",
          known.entries, " entries; A: ", A.rows, " x ", A.columns, ", ", A.entries, " entries)");
  require(known.block == A.block, where, "the plan was made for blocks of ", known.block, " x ",
          known.block, ", the matrix has ", A.block, " x ", A.block);
  require(known.row_offsets == A.row_offsets && known.column_indices == A.column_indices, where,
          "the plan was made for a pattern in other arrays (", A.rows, " x ", A.columns, ", ",
          A.entries, " entries): share the graph between the matrices or make a new plan");
}

}  // namespace blockspan::products
