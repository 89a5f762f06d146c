#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/solvers/common/fold_rows.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// Sums of chunks of rows: chunks x (count * columns * parts).
template <class Exec, class Real>
struct ChunkNumbers {
  FoldedChunks<Exec, Real> numbers;

  /// What thread `rank` of so many adds of number q of column j, the parts of a complex column
  /// together.
  KOKKOS_FUNCTION Real part(int q, std::int64_t j, std::int64_t columns, int parts, int rank,
                            int threads) const {
    std::int64_t const column = (q * columns + j) * parts;
    auto const chunks = static_cast<std::int64_t>(numbers.extent(0));
    Real sum = 0;
    for (std::int64_t c = rank; c < chunks; c += threads)
      for (int p = 0; p < parts; ++p) sum += numbers(c, column + p);
    return sum;
  }
};

/// First stage of a reduction whose second stage is take_sums: sums of Terms per chunk of rows,
/// kept until the next call.
template <class Exec, class Real>
class ChunkSums {
 public:
  using Numbers = FoldedChunks<Exec, Real>;

  /// width: of the rows, in real numbers. Nothing waits.
  template <class Terms>
  void operator()(Exec const& exec, char const* label, Terms const& terms, std::int64_t rows,
                  std::int64_t width) {
    using Rows = FoldRows<Exec, Terms>;
    std::int64_t const chunks = Rows::chunks_of(rows);
    if (static_cast<std::int64_t>(memory_.size()) < chunks * Terms::count * width)
      memory_ = allocate<Memory>(exec, "Blockspan::cg::partials", chunks * most_terms * width);
    static_assert(Terms::count <= most_terms);
    numbers_ = Numbers(memory_.data(), chunks, Terms::count * width);
    Rows{terms, rows, width, chunks, numbers_}.launch(exec, label);
  }

  ChunkNumbers<Exec, Real> numbers() const { return {numbers_}; }

 private:
  static constexpr int most_terms = 3;

  using Memory = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Memory memory_;
  Numbers numbers_;
};

/// What a product has summed beside it (LinearOperator::apply_dots): x.y, then 1 in place of x.x,
/// then y.(w y).
template <class Scalar, class Exec>
struct ProductDots {
  using Real = real_t<Scalar>;
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;

  ProductDots(Exec const& exec, int columns)
      : x_dot_y(allocate<decltype(x_dot_y)>(exec, "Blockspan::cg::dots", columns)),
        y_dot_y(allocate<decltype(y_dot_y)>(exec, "Blockspan::cg::dots", columns)) {}

  Kokkos::View<Scalar*, Device> x_dot_y;
  Kokkos::View<Real*, Device> y_dot_y;

  /// As ChunkNumbers.
  KOKKOS_FUNCTION Real part(int q, std::int64_t j, std::int64_t, int, int rank, int) const {
    if (rank > 0) return 0;
    return q == 0 ? real_part(x_dot_y(j)) : q == 1 ? Real(1) : y_dot_y(j);
  }
};

/// Second stage, one kernel: the chunks of a column in a fixed order, then `take` with the sums of
/// its parts added: those of `first`, then those of `second`. A team a column; on hosts of one
/// thread.
template <class Exec, class RealType, class First, class Take>
struct TakeSums {
  using Real = RealType;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr int threads = fold_threads_v<Exec>;

  First first;
  ChunkNumbers<Exec, Real> second;
  std::int64_t columns;
  int of_first, parts;
  Take take;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    std::int64_t const j = team.league_rank();
    int const rank = team.team_rank();
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(threads * sizeof(Real), 16));
    Real sums[Take::count];
    for (int q = 0; q < Take::count; ++q) {
      Real const sum = q < of_first ? first.part(q, j, columns, parts, rank, threads)
                                    : second.part(q - of_first, j, columns, parts, rank, threads);
      fold_team(team, scratch, threads, sum, [](Real& all, Real more) { all += more; });
      team.team_barrier();
      sums[q] = scratch[0];
      team.team_barrier();
    }
    if (rank == 0) take(j, parts, sums);
  }
};

/// Hands the sums of each column to Take where Exec computes, `of_first` of them from `first`.
/// Nothing waits.
template <class Exec, class Real, class First, class Take>
void take_sums(Exec const& exec, First const& first, int of_first,
               ChunkNumbers<Exec, Real> const& second, Take const& take, std::int64_t columns,
               int parts) {
  using Kernel = TakeSums<Exec, Real, First, Take>;
  typename Kernel::Policy policy(exec, static_cast<int>(columns), Kernel::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::threads * sizeof(Real) + 64));
  Kokkos::parallel_for("Blockspan::cg::columns", policy,
                       Kernel{first, second, columns, of_first, parts, take});
}

}  // namespace blockspan::detail
