#pragma once

#include <algorithm>
#include <cstdint>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multigrid/setup/workers.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::levels {

/// Gauss-Jordan elimination without pivoting, in place, 32 rows and columns at a time, for devices:
/// a positive definite matrix of unit diagonal needs no row exchanges, and its pivots are those of
/// the Cholesky factorization. n x n, row-major. 2 n^3 operations in 3 n / 32 kernels.
template <class Scalar, class Exec>
class BlockInverse {
 public:
  using Real = real_t<Scalar>;
  static constexpr int size = 32, rows_of_item = 4;

  BlockInverse(Exec const& exec, Arena<Exec>& arena, int n)
      : exec_(exec),
        n_(n),
        X_(scratch_array<Scalar>(exec, arena, std::int64_t{n} * n)),
        rows_(scratch_array<Scalar>(exec, arena, std::int64_t{size} * n)),
        columns_(scratch_array<Scalar>(exec, arena, std::int64_t{size} * n)),
        diagonal_(scratch_array<Scalar>(exec, arena, size * size)),
        scales_(scratch_array<Real>(exec, arena, n)),
        pivots_(scratch_array<Real>(exec, arena, n)) {}

  /// to := A^-1, n x n, exactly Hermitian. False, with `to` undefined, where a pivot of A scaled to
  /// unit diagonal is below `least` or not finite. Fences.
  bool run(MatrixRef<Scalar, int, int> const& A, Real least, Array<Scalar, Exec> const& to) {
    scatter(A);
    for (int first = 0; first < n_; first += size) {
      int const count = std::min(size, n_ - first);
      invert_diagonal(first, count);
      take_panels(first, count);
      eliminate(first, count);
    }
    auto const pivots = pivots_;
    std::int64_t const bad = count_each(
        exec_, "Blockspan::multigrid_pivots", n_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) {
          if (!(pivots(i) >= least)) ++sum;
        });
    if (bad > 0) return false;
    unscale(to);
    return true;
  }

  /// X := S A S, S = |diag A|^-1/2.
  void scatter(MatrixRef<Scalar, int, int> const& A) {
    auto const X = X_;
    auto const s = scales_;
    int const n = n_;
    Kokkos::deep_copy(exec_, X, Scalar(0));
    each(
        exec_, "Blockspan::multigrid_inverse_scales", n, KOKKOS_LAMBDA(std::int64_t i) {
          Real d = 0;
          for (int k = A.pattern.row_offsets[i]; k < A.pattern.row_offsets[i + 1]; ++k)
            if (A.pattern.column_indices[k] == i) d = Kokkos::abs(real_part(A.values[k]));
          s(i) = d > 0 ? 1 / Kokkos::sqrt(d) : 0;
        });
    each(
        exec_, "Blockspan::multigrid_inverse_scatter", n, KOKKOS_LAMBDA(std::int64_t i) {
          for (int k = A.pattern.row_offsets[i]; k < A.pattern.row_offsets[i + 1]; ++k) {
            int const j = A.pattern.column_indices[k];
            X(i * n + j) = A.values[k] * (s(i) * s(j));
          }
        });
  }

  /// The inverse of a diagonal block, by one team.
  struct InvertDiagonal {
    Array<Scalar, Exec> X, D;
    Array<Real, Exec> pivots;
    int n, first, count;

    template <class Team>
    KOKKOS_FUNCTION void operator()(Team const& team) const {
      auto* const t = static_cast<Scalar*>(
          team.team_scratch(0).get_shmem_aligned(size * size * sizeof(Scalar), 16));
      auto const all = Kokkos::TeamThreadRange(team, count * count);
      Kokkos::parallel_for(all, [&](int k) {
        int const i = k / count, j = k % count;
        t[i * size + j] = X(std::int64_t{first + i} * n + first + j);
      });
      team.team_barrier();
      for (int p = 0; p < count; ++p) {
        Real const pivot = real_part(t[p * size + p]);
        Kokkos::parallel_for(all, [&](int k) {
          int const i = k / count, j = k % count;
          if (i != p && j != p) t[i * size + j] -= t[i * size + p] * t[p * size + j] * (1 / pivot);
        });
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int i) {
          if (i == p) {
            t[p * size + p] = Scalar(1 / pivot);
            pivots(first + p) = pivot;
          } else {
            t[i * size + p] *= -1 / pivot;
            t[p * size + i] *= 1 / pivot;
          }
        });
        team.team_barrier();
      }
      Kokkos::parallel_for(all, [&](int k) {
        D((k / count) * size + k % count) = t[(k / count) * size + k % count];
      });
    }
  };

  void invert_diagonal(int first, int count) {
    constexpr int threads = 256;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;
    auto policy = Policy(exec_, 1, runs_on_host_v<Exec> ? 1 : threads, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(size * size * int(sizeof(Scalar)) + 32));
    Kokkos::parallel_for("Blockspan::multigrid_inverse_diagonal", policy,
                         InvertDiagonal{X_, diagonal_, pivots_, n_, first, count});
  }

  /// rows := D times the rows of the block, with D, its inverse, in the columns of the block;
  /// columns := the columns of the block, zero inside the block.
  void take_panels(int first, int count) {
    auto const X = X_, D = diagonal_, rows = rows_, columns = columns_;
    std::int64_t const n = n_;
    each(
        exec_, "Blockspan::multigrid_inverse_panels", n * count, KOKKOS_LAMBDA(std::int64_t item) {
          auto const p = static_cast<int>(item / n);
          std::int64_t const j = item % n;
          bool const inside = j >= first && j < first + count;
          Scalar sum(0);
          for (int q = 0; q < count && !inside; ++q)
            sum += D(p * size + q) * X((first + q) * n + j);
          rows(p * n + j) = inside ? D(p * size + static_cast<int>(j) - first) : sum;
          columns(p * n + j) = inside ? Scalar(0) : X(j * n + first + p);
        });
  }

  /// Subtracts columns times rows from all other rows; the rows of the block become `rows`.
  void eliminate(int first, int count) {
    auto const X = X_, rows = rows_, columns = columns_;
    std::int64_t const n = n_, strips = (n + rows_of_item - 1) / rows_of_item;
    each(
        exec_, "Blockspan::multigrid_inverse_eliminate", n * strips,
        KOKKOS_LAMBDA(std::int64_t item) {
          std::int64_t const j = item % n, i = item / n * rows_of_item;
          int const own = n - i < rows_of_item ? static_cast<int>(n - i) : rows_of_item;
          Scalar sums[rows_of_item] = {};
          for (int q = 0; q < count; ++q) {
            Scalar const r = rows(q * n + j);
            for (int s = 0; s < rows_of_item; ++s)
              if (s < own) sums[s] += columns(q * n + i + s) * r;
          }
          bool const inside = j >= first && j < first + count;
          for (int s = 0; s < own; ++s) {
            std::int64_t const row = i + s, place = row * n + j;
            if (row >= first && row < first + count)
              X(place) = rows((row - first) * n + j);
            else
              X(place) = (inside ? Scalar(0) : X(place)) - sums[s];
          }
        });
  }

  void unscale(Array<Scalar, Exec> const& to) {
    auto const X = X_;
    auto const s = scales_;
    std::int64_t const n = n_;
    each(
        exec_, "Blockspan::multigrid_inverse_unscale", n * n, KOKKOS_LAMBDA(std::int64_t k) {
          std::int64_t const i = k / n, j = k % n;
          Scalar const mean = (X(k) + conjugate(X(j * n + i))) * (Real(0.5) * s(i) * s(j));
          to(k) = mean;
        });
    exec_.fence("Blockspan::multigrid_inverse");
  }

 private:
  Exec exec_;
  int n_;
  Array<Scalar, Exec> X_, rows_, columns_, diagonal_;
  Array<Real, Exec> scales_, pivots_;
};

}  // namespace blockspan::levels
