#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/matrix_ref.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// Y = beta Y, and Y = 0 without reading it where beta is zero: a product with alpha = 0.
template <class Scalar>
struct ScaleBlock {
  Scalar beta;
  bool overwrite;
  bool by_rows;  ///< neighbouring work items are neighbours in a row
  BlockRef<Scalar> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const i = by_rows ? item / Y.columns : item % Y.rows;
    std::int64_t const j = by_rows ? item % Y.columns : item / Y.rows;
    Y(i, j) = overwrite ? Scalar(0) : beta * Y(i, j);
  }
};

template <class Exec, class Scalar>
void scale_block(Exec const& exec, Scalar const& beta, BlockRef<Scalar> const& Y) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (beta == Scalar(1)) return;
  Kokkos::parallel_for(
      "Blockspan::spmm::scale", Policy(exec, 0, Y.rows * Y.columns),
      ScaleBlock<Scalar>{beta, beta == Scalar(0), Y.row_stride >= Y.column_stride, Y});
}

/// The same for the rows of Y that have no entry in A: a row a team thread, its lanes the columns.
template <class Exec, class Scalar, class Offset>
struct ScaleEmptyRows {
  using Policy = Kokkos::TeamPolicy<Exec>;

  Scalar beta;
  bool overwrite;
  Offset const* row_offsets;
  BlockRef<Scalar> Y;
  std::int64_t rows_per_team;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    std::int64_t const first = rows_per_team * team.league_rank();
    auto const count =
        static_cast<int>(Y.rows - first < rows_per_team ? Y.rows - first : rows_per_team);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int const offset) {
      std::int64_t const i = first + offset;
      if (row_offsets[i] != row_offsets[i + 1]) return;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<int>(Y.columns)),
                           [&](int const j) { Y(i, j) = overwrite ? Scalar(0) : beta * Y(i, j); });
    });
  }

  void launch(Exec const& exec, std::string const& label) const {
    auto const teams = static_cast<int>(ceil_div(Y.rows, rows_per_team));
    if constexpr (runs_on_host_v<Exec>) {
      Kokkos::parallel_for(label, Policy(exec, teams, 1, 1), *this);
    } else {
      int lanes = 1;
      while (lanes < Y.columns && lanes < 32) lanes *= 2;
      int const threads = static_cast<int>(tuning::device_threads) / lanes;
      Kokkos::parallel_for(label, Policy(exec, teams, threads, lanes), *this);
    }
  }
};

template <class Exec, class Scalar, class Offset>
void scale_empty_rows(Exec const& exec, Scalar const& beta, Offset const* row_offsets,
                      BlockRef<Scalar> const& Y, std::string const& label) {
  if (beta == Scalar(1)) return;
  std::int64_t const rows_per_team =
      std::max<std::int64_t>(256, ceil_div(Y.rows, std::int64_t{1} << 30));
  ScaleEmptyRows<Exec, Scalar, Offset>{beta, beta == Scalar(0), row_offsets, Y, rows_per_team}
      .launch(exec, label);
}

}  // namespace blockspan::detail
