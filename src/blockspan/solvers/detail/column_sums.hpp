#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/solvers/detail/fold_rows.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

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
      memory_ =
          Memory(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::cg::partials"),
                 chunks * most_terms * width);
    static_assert(Terms::count <= most_terms);
    numbers_ = Numbers(memory_.data(), chunks, Terms::count * width);
    Rows{terms, rows, width, chunks, numbers_}.launch(exec, label);
  }

  /// chunks x (Terms::count * width)
  Numbers const& numbers() const { return numbers_; }

 private:
  static constexpr int most_terms = 3;

  using Memory = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Memory memory_;
  Numbers numbers_;
};

/// Second stage, one kernel: the chunks of a column in a fixed order, then `take` with the sums of
/// its parts added: those of `first`, then those of `second`. A team a column; on hosts of one
/// thread.
template <class Exec, class RealType, class Take>
struct TakeSums {
  using Real = RealType;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr int threads = fold_threads_v<Exec>;

  FoldedChunks<Exec, Real> first, second;
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
      auto const& partial = q < of_first ? first : second;
      std::int64_t const column = ((q < of_first ? q : q - of_first) * columns + j) * parts;
      auto const chunks = static_cast<std::int64_t>(partial.extent(0));
      Real sum = 0;
      for (std::int64_t c = rank; c < chunks; c += threads)
        for (int part = 0; part < parts; ++part) sum += partial(c, column + part);
      fold_team(team, scratch, threads, sum, [](Real& all, Real more) { all += more; });
      team.team_barrier();
      sums[q] = scratch[0];
      team.team_barrier();
    }
    if (rank == 0) take(j, parts, sums);
  }
};

/// Hands the sums of each column to Take where Exec computes. Nothing waits.
template <class Exec, class Real, class Take>
void take_sums(Exec const& exec, ChunkSums<Exec, Real> const& first, int of_first,
               ChunkSums<Exec, Real> const& second, Take const& take, std::int64_t columns,
               int parts) {
  using Kernel = TakeSums<Exec, Real, Take>;
  typename Kernel::Policy policy(exec, static_cast<int>(columns), Kernel::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::threads * sizeof(Real) + 64));
  Kokkos::parallel_for("Blockspan::cg::columns", policy,
                       Kernel{first.numbers(), second.numbers(), columns, of_first, parts, take});
}

/// The same where there is one first stage only.
template <class Exec, class Real, class Take>
void take_sums(Exec const& exec, ChunkSums<Exec, Real> const& sums, Take const& take,
               std::int64_t columns, int parts) {
  take_sums(exec, sums, Take::count, sums, take, columns, parts);
}

}  // namespace blockspan::detail
