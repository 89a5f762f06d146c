#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

// Passes over tall row-major blocks that produce a few numbers per column, in one read of the
// blocks: the rows are dealt to chunks whose number depends on n only (neighbouring rows to one
// chunk on hosts; row i to chunk i modulo their number on devices, where a thread folds a chunk and
// its neighbours read the neighbouring rows), each chunk is folded in row order, and the chunks are
// folded in a fixed order. So the result does not depend on the number of threads.
//
// Terms that also write may say what they read of a row by a type Operands and a function load:
// devices then load several rows before they write, which a compiler cannot do by itself where
// blocks might overlap.

/// Residuals of Ritz pairs: r = sign A x - theta B x, and W = D R with a diagonal D (null: the
/// identity); per column sums |r|^2, |x|^2, |B x|^2, |w|^2. Reads AX, X (and BX), writes W: 3 (4) n
/// m scalars.
template <class Scalar>
struct ResidualTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 4;

  BlockRef<Scalar const> X, AX, BX;
  BlockRef<Scalar> W;
  Real const* weights;
  Real const* theta;
  Real sign;
  bool generalized;

  struct Operands {
    Scalar x, ax, bx;
    Real weight;
  };
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    Scalar const x = X(i, j);
    return {x, AX(i, j), generalized ? BX(i, j) : x, weights ? weights[i] : Real(1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Operands const& o,
                                              Real* terms) const {
    Scalar const r = sign * o.ax - theta[j] * o.bx, w = weights ? o.weight * r : r;
    W(i, j) = w;
    terms[0] = squared_magnitude(r);
    terms[1] = squared_magnitude(o.x);
    terms[2] = squared_magnitude(o.bx);
    terms[3] = squared_magnitude(w);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { total += term; }
};

/// Quality of directions W built from residuals R: per column sums |w|^2, Re(conj(r) w), |r|^2.
template <class Scalar>
struct DirectionTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 3;

  BlockRef<Scalar const> R, W;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Scalar const r = R(i, j);
    Scalar const w = W(i, j);
    terms[0] = squared_magnitude(w);
    terms[1] = real_part(conjugate(r) * w);
    terms[2] = squared_magnitude(r);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) { total += term; }
};

/// Largest magnitude of real and imaginary parts per column; NaN if there is one.
template <class Scalar>
struct LargestTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    if constexpr (is_complex_v<Scalar>) {
      terms[0] = Kokkos::abs(X(i, j).real());
      fold(terms[0], Kokkos::abs(X(i, j).imag()));
    } else {
      terms[0] = Kokkos::abs(X(i, j));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Real& total, Real term) {
    if (term > total || term != term) total = term;
  }
};

template <class Terms>
concept LoadsFirst = requires {
  typename Terms::Operands;
};

/// First stage: the terms of all rows of a chunk.
template <class Exec, class Terms>
struct FoldRows {
  using Real = typename Terms::Real;
  using Numbers =
      Kokkos::View<Real**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;
  static constexpr int tile = 8;
  struct ByChunk {};  ///< host: one thread a chunk, columns in the inner loop
  /// Device: one thread a chunk and column, at_once rows of it in flight, for any number of columns
  /// the same: the compiler's choice of fused multiply-adds, and so the bits, depend on it. One
  /// H200, 1e6 rows, residuals of 8 columns: 0.097 ms with chunks of neighbouring rows, 0.080
  /// dealt, 0.075 with 8 in flight; of 32 columns 0.229, 0.218 and 0.238.
  struct ByColumn {};
  static constexpr int at_once = 4;

  Terms terms;
  std::int64_t rows, columns, chunks;
  Numbers partial;  ///< chunks x (count * columns)

  KOKKOS_FUNCTION void operator()(ByChunk, std::int64_t c) const {
    std::int64_t j = 0;
    for (; j + tile <= columns; j += tile) fold_tile<tile>(c, j);
    if (j + 4 <= columns) fold_tile<4>(c, j), j += 4;
    if (j + 2 <= columns) fold_tile<2>(c, j), j += 2;
    if (j < columns) fold_tile<1>(c, j);
  }

  /// Constant widths, so that the compiler vectorizes along the rows.
  template <int width>
  KOKKOS_FUNCTION void fold_tile(std::int64_t c, std::int64_t first_column) const {
    std::int64_t const last = Kokkos::min(rows, (c + 1) * host_chunk);
    Real sums[Terms::count][width] = {};
    for (std::int64_t i = c * host_chunk; i < last; ++i)
      for (int t = 0; t < width; ++t) {
        Real term[Terms::count];
        if constexpr (LoadsFirst<Terms>)
          terms(i, first_column + t, terms.load(i, first_column + t), term);
        else
          terms(i, first_column + t, term);
        for (int q = 0; q < Terms::count; ++q) Terms::fold(sums[q][t], term[q]);
      }
    for (int q = 0; q < Terms::count; ++q)
      for (int t = 0; t < width; ++t) partial(c, q * columns + first_column + t) = sums[q][t];
  }

  KOKKOS_FUNCTION void operator()(ByColumn, std::int64_t index) const {
    std::int64_t const c = index / columns, j = index % columns;
    Real sums[Terms::count] = {};
    std::int64_t i = c;
    for (; i + (at_once - 1) * chunks < rows; i += at_once * chunks) fold_rows<at_once>(i, j, sums);
    for (; i < rows; i += chunks) fold_rows<1>(i, j, sums);
    for (int q = 0; q < Terms::count; ++q) partial(c, q * columns + j) = sums[q];
  }

  template <int n>
  KOKKOS_FORCEINLINE_FUNCTION void fold_rows(std::int64_t i, std::int64_t j,
                                             Real (&sums)[Terms::count]) const {
    Real term[n][Terms::count];
    if constexpr (LoadsFirst<Terms>) {
      typename Terms::Operands operands[n];
      for (int d = 0; d < n; ++d) operands[d] = terms.load(i + d * chunks, j);
      for (int d = 0; d < n; ++d) terms(i + d * chunks, j, operands[d], term[d]);
    } else {
      for (int d = 0; d < n; ++d) terms(i + d * chunks, j, term[d]);
    }
    for (int d = 0; d < n; ++d)
      for (int q = 0; q < Terms::count; ++q) Terms::fold(sums[q], term[d][q]);
  }

  static constexpr bool on_host = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;
  static constexpr std::int64_t host_chunk = 1024, device_chunks = 8192, least_rows = 32;

  static std::int64_t chunks_of(std::int64_t rows) {
    return on_host ? ceil_div(rows, host_chunk)
                   : Kokkos::min(ceil_div(rows, least_rows), device_chunks);
  }

  void launch(Exec const& exec, char const* label) const {
    using Tag = std::conditional_t<on_host, ByChunk, ByColumn>;
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<Exec, Tag, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, on_host ? chunks : chunks * columns),
                         *this);
  }
};

/// Folds the `value` of each of a team's threads (a power of two) by halves, into scratch[0]. The
/// first thread may read it at once.
template <class Team, class Real, class Fold>
KOKKOS_FORCEINLINE_FUNCTION void fold_team(Team const& team, Real* scratch, int threads, Real value,
                                           Fold const& fold) {
  int const rank = team.team_rank();
  scratch[rank] = value;
  for (int half = threads / 2; half > 0; half /= 2) {
    team.team_barrier();
    if (rank < half) fold(scratch[rank], scratch[rank + half]);
  }
}

/// Second stage: a team for each number folds the chunks, each thread every threads-th of them,
/// then the threads' results. On hosts a team is one thread.
template <class Exec, class Terms>
struct FoldPartials {
  using Real = typename Terms::Real;
  using Numbers = typename FoldRows<Exec, Terms>::Numbers;
  using Policy = Kokkos::TeamPolicy<Exec>;

  Numbers from;
  Real* to;
  std::int64_t chunks;
  int threads;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    int const j = team.league_rank(), rank = team.team_rank();
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(threads * sizeof(Real), 16));
    Real total = 0;  // neutral: sums, and largest magnitudes
    for (std::int64_t c = rank; c < chunks; c += threads) Terms::fold(total, from(c, j));
    fold_team(team, scratch, threads, total, [](Real& all, Real more) { Terms::fold(all, more); });
    if (rank == 0) to[j] = scratch[0];
  }

  void launch(Exec const& exec, std::int64_t numbers) const {
    Policy policy(exec, static_cast<int>(numbers), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(threads * sizeof(Real) + 64));
    Kokkos::parallel_for("Blockspan::solvers::fold", policy, *this);
  }
};

/// Runs both stages and brings the numbers to the host: q * columns + j holds number q of column j.
/// Fences exec. Keeps its buffers between calls.
template <class Exec, class Real>
class ColumnFolder {
 public:
  template <class Terms>
  std::vector<Real> operator()(Exec const& exec, char const* label, Terms const& terms,
                               std::int64_t rows, std::int64_t columns) {
    using Rows = FoldRows<Exec, Terms>;
    std::int64_t const width = Terms::count * columns, chunks = Rows::chunks_of(rows);
    grow(exec, chunks, width);
    Rows{terms, rows, columns, chunks, partial_}.launch(exec, label);
    int const threads = Rows::on_host ? 1 : 256;
    FoldPartials<Exec, Terms>{partial_, total_.data(), chunks, threads}.launch(exec, width);
    return to_host(exec, width);
  }

 private:
  using Numbers =
      Kokkos::View<Real**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;

  void grow(Exec const& exec, std::int64_t count, std::int64_t width) {
    auto const alloc = [&] {
      return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::solvers::partials");
    };
    if (static_cast<std::int64_t>(partial_.extent(0)) < count ||
        static_cast<std::int64_t>(partial_.extent(1)) < width)
      partial_ = Numbers(alloc(), std::max<std::int64_t>(count, partial_.extent(0)),
                         std::max<std::int64_t>(width, partial_.extent(1)));
    if (static_cast<std::int64_t>(total_.size()) < width) total_ = Totals(alloc(), width);
  }

  std::vector<Real> to_host(Exec const& exec, std::int64_t width) {
    std::vector<Real> result(width);
    Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const target(
        result.data(), width);
    Kokkos::deep_copy(exec, target,
                      Kokkos::subview(total_, std::pair<std::int64_t, std::int64_t>(0, width)));
    exec.fence("Blockspan::solvers: column numbers");
    return result;
  }

  using Totals = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  Numbers partial_;
  Totals total_;
};

}  // namespace blockspan::detail
