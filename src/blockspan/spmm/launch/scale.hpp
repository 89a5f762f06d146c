#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/entries.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/fast_division.hpp>
#include <blockspan/support/registers/sixteen_bit.hpp>

namespace blockspan::products {

// Kernels of templates that several units compile are functors with names: nvcc gives a host and
// device lambda one function pointer per translation unit, and linkers confuse them.

/// Rows without entries follow the same formula, y = alpha 0 + beta y: alpha 0 is NaN where alpha
/// is not finite, and y is not read where beta is zero.
template <class Scalar>
struct EmptyRow {
  Scalar nothing;  ///< alpha 0
  Scalar beta;

  KOKKOS_FORCEINLINE_FUNCTION EmptyRow(Scalar const& alpha, Scalar const& beta_)
      : nothing(alpha * Scalar(0)), beta(beta_) {}

  /// y stays as it is.
  KOKKOS_FORCEINLINE_FUNCTION bool keeps() const {
    return beta == Scalar(1) && nothing == Scalar(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool overwrites() const { return beta == Scalar(0); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar of(Scalar const& y) const { return nothing + beta * y; }
};

template <class Storage>
struct ScaleEntry {
  using Scalar = computed_t<Storage>;
  BlockRef<Storage> Y;
  EmptyRow<Scalar> row;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    Y(i, j) = Storage(row.overwrites() ? row.nothing : row.of(Scalar(Y(i, j))));
  }
};

/// A product of a matrix without entries, or with alpha = 0.
template <class Exec, class Scalar, class Storage>
void scale_block(Exec const& exec, Scalar const& alpha, Scalar const& beta,
                 BlockRef<Storage> const& Y) {
  EmptyRow<Scalar> const row(alpha, beta);
  if (row.keeps()) return;
  for_each_entry(exec, "Blockspan::spmm::scale", Y, ScaleEntry<Storage>{Y, row});
}

template <class Storage>
struct ScaleSums {
  using Scalar = computed_t<Storage>;
  BlockRef<Storage const> S;
  BlockRef<Storage> Y;
  Scalar alpha, beta;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    Scalar const scaled = alpha * Scalar(S(i, j));
    Y(i, j) = Storage(beta == Scalar(0) ? scaled : scaled + beta * Scalar(Y(i, j)));
  }
};

/// Y = alpha S + beta Y for the sums S of a product; beta = 0 does not read Y.
template <class Exec, class Storage>
void scale_sums(Exec const& exec, BlockRef<Storage const> const& S,
                computed_t<Storage> const& alpha, computed_t<Storage> const& beta,
                BlockRef<Storage> const& Y) {
  for_each_entry(exec, "Blockspan::spmm::scale_sums", Y, ScaleSums<Storage>{S, Y, alpha, beta});
}

/// A vector of a row without entries.
template <int Width, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void scale_vector(BlockRef<Scalar> const& Y, std::int64_t row,
                                              std::int64_t column, EmptyRow<Scalar> const& empty) {
  Scalar* const y = Y.data + row * Y.row_stride + column * Y.column_stride;
  Vector<Scalar, Width> vector;
  for (int j = 0; j < Width; ++j)
    vector.value[j] = empty.overwrites() ? empty.nothing : empty.of(y[j]);
  *reinterpret_cast<Vector<Scalar, Width>*>(y) = vector;
}

/// The rows that have no entry in A.
/// A team finds its empty rows, then writes their vectors of `Width` columns in order, so that
/// writes are contiguous wherever empty rows are neighbours.
template <class Exec, class Scalar, int Width>
struct ScaleEmptyRows {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<tuning::device_threads>>;
  using Team = typename Policy::member_type;
  static constexpr int rows_per_team = static_cast<int>(tuning::device_threads);

  EmptyRow<Scalar> row;
  int const* row_offsets;
  BlockRef<Scalar> Y;
  int vectors;  ///< of a row
  FastDivision by_vectors;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto* const is_empty = team_array<bool>(team, rows_per_team);
    std::int64_t const first = std::int64_t{rows_per_team} * team.league_rank();
    auto const rows =
        static_cast<int>(Y.rows - first < rows_per_team ? Y.rows - first : rows_per_team);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int i) {
      is_empty[i] = row_offsets[first + i] == row_offsets[first + i + 1];
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * vectors), [&](int vector) {
      int const i = by_vectors(vector);
      if (is_empty[i])
        scale_vector<Width>(Y, first + i, std::int64_t{vector - i * vectors} * Width, row);
    });
  }

  void launch(Exec const& exec, std::string const& label) const {
    auto const teams = static_cast<int>(ceil_div(Y.rows, std::int64_t{rows_per_team}));
    int const threads = runs_on_host_v<Exec> ? 1 : rows_per_team;
    Policy policy(exec, teams, threads, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_for(rows_per_team)));
    Kokkos::parallel_for(label, policy, *this);
  }
};

template <class Exec, class Scalar>
void scale_empty_rows(Exec const& exec, Scalar const& alpha, Scalar const& beta,
                      int const* row_offsets, BlockRef<Scalar> const& Y, std::string const& label) {
  EmptyRow<Scalar> const row(alpha, beta);
  if (row.keeps()) return;
  auto const run = [&]<int Width>() {
    auto const vectors = static_cast<int>(Y.columns / Width);
    ScaleEmptyRows<Exec, Scalar, Width>{row, row_offsets, Y, vectors, FastDivision(vectors)}.launch(
        exec, label);
  };
  constexpr int wide = device_vector_v<Scalar>;
  if (Y.columns % wide == 0 && rows_are_aligned(Y)) return run.template operator()<wide>();
  run.template operator()<1>();
}

}  // namespace blockspan::products
