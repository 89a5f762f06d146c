#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/published/kernels/gemm.hpp>
#include <blockspan/published/menu/operands.hpp>
#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/scale.hpp>
#include <blockspan/spmm/prepared/plan_state.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::published {

/// Writes a sparse matrix as a dense one, row-major: one row per team thread, its lanes over the
/// entries. The columns of a row are sorted; repeated entries are added by the lane of the first
/// one.
template <class Exec, class Scalar, class Ordinal>
struct WriteDense {
  using Policy = Kokkos::TeamPolicy<Exec>;

  int const* row_offsets;
  AnyEntries<Scalar, Ordinal> entries;
  std::int64_t rows, columns;
  Scalar* dense;  ///< rows x columns
  int rows_per_team;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows_per_team), [&](int i) {
      std::int64_t const row = std::int64_t{team.league_rank()} * rows_per_team + i;
      if (row >= rows) return;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, columns),
                           [&](std::int64_t j) { dense[row * columns + j] = Scalar(0); });
      int const first = row_offsets[row], last = row_offsets[row + 1];
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<std::int64_t>(last - first)),
                           [&](std::int64_t j) {
                             int k = first + static_cast<int>(j);
                             Ordinal const column = entries.column(k);
                             if (k > first && entries.column(k - 1) == column) return;
                             Scalar sum = entries.value(k);
                             for (++k; k < last && entries.column(k) == column; ++k)
                               sum += entries.value(k);
                             dense[row * columns + static_cast<std::int64_t>(column)] = sum;
                           });
    });
  }
};

/// A block as an operand of the BLAS: column-major, possibly as its transpose.
struct GemmBlock {
  bool row_major;
  std::int64_t leading;
};
template <class Block>
GemmBlock gemm_block(Block const& B, char const* name) {
  bool const by_rows = B.column_stride == 1 && (B.row_stride >= B.columns || B.rows <= 1);
  bool const by_columns = B.row_stride == 1 && (B.column_stride >= B.rows || B.columns <= 1);
  require(by_rows || by_columns, "blockspan::spmm",
          "dense cannot serve this input: neither rows nor ", "columns of ", name,
          " are contiguous (strides ", B.row_stride, ", ", B.column_stride, ")");
  std::int64_t const least = by_rows ? B.columns : B.rows;
  std::int64_t const stride = by_rows ? B.row_stride : B.column_stride;
  return {by_rows, stride > least ? stride : (least > 0 ? least : 1)};
}

/// The BLAS handles of a plan, created on demand.
template <class Exec, class Ordinal>
BlasHandles<Exec>& blas_of(PlanState<Exec, Ordinal>& plan) {
  std::lock_guard const lock(plan.transposing);
  if (!plan.blas) plan.blas = std::make_shared<BlasHandles<Exec>>();
  return *static_cast<BlasHandles<Exec>*>(plan.blas.get());
}

/// Y = alpha op(A) X + beta Y with a dense copy of op(A). Throws Error where the copy is too large,
/// where the BLAS cannot address it, or where there is no BLAS for this backend.
template <class Exec, class Scalar, class Ordinal>
void multiply_dense(SpmmCall<Exec, Scalar, Ordinal> const& call, PlanState<Exec, Ordinal>& plan) {
  Exec const& exec = call.exec;
  auto const& prepared = call.prepared;
  auto const& product = call.product;
  auto const& A = prepared.pattern;
  if (prepared.statistics.nonzeros == 0)
    return scale_block(exec, product.alpha, product.beta, product.Y);
  char const* const label = call.variant().label;
  auto const elements = static_cast<double>(A.rows) * static_cast<double>(A.columns);
  require(has_gemm_v<Exec>, "blockspan::spmm", "dense cannot serve this input: no BLAS for ",
          Exec::name());
  constexpr std::int64_t most =
      runs_on_host_v<Exec> ? tuning::host_dense_bytes : tuning::device_dense_bytes;
  require(elements * sizeof(Scalar) <= static_cast<double>(most), "blockspan::spmm",
          "dense cannot serve this input: A has ", A.rows, " x ", A.columns, " elements, ",
          elements * sizeof(Scalar), " bytes, more than ", most);
  auto const x = gemm_block(product.X, "X"), y = gemm_block(product.Y, "Y");
  require(
      x.leading <= std::numeric_limits<int>::max() && y.leading <= std::numeric_limits<int>::max(),
      "blockspan::spmm", "dense cannot serve this input: strides ", x.leading, ", ", y.leading,
      " exceed what the BLAS can address");
  auto const bytes = static_cast<std::size_t>(elements) * sizeof(Scalar);
  auto* const filled = static_cast<Scalar*>(plan.dense.reserve(exec, bytes > 0 ? bytes : 1));
  using Write = WriteDense<Exec, Scalar, Ordinal>;
  constexpr bool host = runs_on_host_v<Exec>;
  constexpr int lanes = host ? 1 : 32, threads = host ? 1 : 8;
  int const rows_per_team = static_cast<int>(
      host ? std::int64_t{64}
           : std::max<std::int64_t>(threads, ceil_div(A.rows, std::int64_t{1} << 30)));
  auto const teams = static_cast<int>(ceil_div(A.rows, std::int64_t{rows_per_team}));
  Kokkos::parallel_for(
      label, typename Write::Policy(exec, teams, threads, lanes),
      Write{A.row_offsets,
            {A.column_indices, prepared.permutation, call.values, conjugates(product.op)},
            A.rows,
            A.columns,
            filled,
            rows_per_team});
  // A row-major block is the column-major transpose: Y^T = X^T A^T, or Y = A X, without copies.
  auto const m = static_cast<int>(A.rows), k = static_cast<int>(A.columns);
  auto const n = static_cast<int>(product.Y.columns);
  auto const leading = std::max(k, 1);
  GemmOperand<Scalar> const a{filled, leading, !y.row_major};
  GemmOperand<Scalar> const b{product.X.data, static_cast<int>(x.leading),
                              x.row_major != y.row_major};
  auto& blas = blas_of(plan);
  Scalar* const c = product.Y.data;
  auto const ld = static_cast<int>(y.leading);
  if (y.row_major)
    gemm(exec, blas, GemmCall<Scalar>{n, m, k, product.alpha, b, a, product.beta, c, ld});
  else
    gemm(exec, blas, GemmCall<Scalar>{m, n, k, product.alpha, a, b, product.beta, c, ld});
}

}  // namespace blockspan::published
