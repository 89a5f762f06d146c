#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

// Passes over tall row-major blocks that produce a few numbers per column, in one read of the
// blocks: the rows are cut into chunks whose number depends on n only, each chunk is folded in row
// order, and the chunks are folded in order, 64 at a time. So the result does not depend on the
// number of threads.

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

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Scalar const x = X(i, j);
    Scalar const bx = generalized ? BX(i, j) : x;
    Scalar const r = sign * AX(i, j) - theta[j] * bx;
    Scalar const w = weights ? weights[i] * r : r;
    W(i, j) = w;
    terms[0] = squared_magnitude(r);
    terms[1] = squared_magnitude(x);
    terms[2] = squared_magnitude(bx);
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

/// First stage: the terms of all rows of a chunk.
template <class Exec, class Terms>
struct FoldRows {
  using Real = typename Terms::Real;
  using Numbers =
      Kokkos::View<Real**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;
  static constexpr int tile = 8;
  struct ByChunk {};   ///< host: one thread a chunk, columns in the inner loop
  struct ByColumn {};  ///< device: one thread a chunk and column, so that rows are read coalesced

  Terms terms;
  std::int64_t rows, columns, chunk;
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
    std::int64_t const last = Kokkos::min(rows, (c + 1) * chunk);
    Real sums[Terms::count][width] = {};
    for (std::int64_t i = c * chunk; i < last; ++i)
      for (int t = 0; t < width; ++t) {
        Real term[Terms::count];
        terms(i, first_column + t, term);
        for (int q = 0; q < Terms::count; ++q) Terms::fold(sums[q][t], term[q]);
      }
    for (int q = 0; q < Terms::count; ++q)
      for (int t = 0; t < width; ++t) partial(c, q * columns + first_column + t) = sums[q][t];
  }

  KOKKOS_FUNCTION void operator()(ByColumn, std::int64_t index) const {
    std::int64_t const c = index / columns, j = index % columns;
    std::int64_t const last = Kokkos::min(rows, (c + 1) * chunk);
    Real sums[Terms::count] = {};
    for (std::int64_t i = c * chunk; i < last; ++i) {
      Real term[Terms::count];
      terms(i, j, term);
      for (int q = 0; q < Terms::count; ++q) Terms::fold(sums[q], term[q]);
    }
    for (int q = 0; q < Terms::count; ++q) partial(c, q * columns + j) = sums[q];
  }
};

/// Second stage: groups of `group` rows of partial results, one thread a group and column.
template <class Exec, class Terms>
struct FoldPartials {
  using Numbers = typename FoldRows<Exec, Terms>::Numbers;
  static constexpr std::int64_t group = 64;

  Numbers from, to;
  std::int64_t count, width;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const g = index / width, j = index % width;
    std::int64_t const last = Kokkos::min(count, (g + 1) * group);
    auto total = from(g * group, j);
    for (std::int64_t c = g * group + 1; c < last; ++c) Terms::fold(total, from(c, j));
    to(g, j) = total;
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
    constexpr bool on_host = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;
    using Rows = FoldRows<Exec, Terms>;
    std::int64_t const width = Terms::count * columns;
    std::int64_t const chunk =
        on_host ? 1024 : Kokkos::max<std::int64_t>(32, ceil_div<std::int64_t>(rows, 8192));
    std::int64_t count = ceil_div(rows, chunk);
    grow(exec, count, width);
    Rows const fold{terms, rows, columns, chunk, from_};
    if constexpr (on_host)
      Kokkos::parallel_for(
          label,
          Kokkos::RangePolicy<Exec, typename Rows::ByChunk, Kokkos::IndexType<std::int64_t>>(
              exec, 0, count),
          fold);
    else
      Kokkos::parallel_for(
          label,
          Kokkos::RangePolicy<Exec, typename Rows::ByColumn, Kokkos::IndexType<std::int64_t>>(
              exec, 0, count * columns),
          fold);
    while (count > 1) {
      using Partials = FoldPartials<Exec, Terms>;
      std::int64_t const groups = ceil_div(count, Partials::group);
      Kokkos::parallel_for(
          "Blockspan::solvers::fold",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, groups * width),
          Partials{from_, to_, count, width});
      std::swap(from_, to_);
      count = groups;
    }
    return to_host(exec, width);
  }

 private:
  using Numbers =
      Kokkos::View<Real**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;

  void grow(Exec const& exec, std::int64_t count, std::int64_t width) {
    if (static_cast<std::int64_t>(from_.extent(0)) >= count &&
        static_cast<std::int64_t>(from_.extent(1)) >= width)
      return;
    auto const alloc = [&] {
      return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::solvers::partials");
    };
    from_ = Numbers(alloc(), count, width);
    to_ = Numbers(alloc(), count, width);
  }

  std::vector<Real> to_host(Exec const& exec, std::int64_t width) {
    std::vector<Real> result(width);
    Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const target(
        result.data(), width);
    Kokkos::deep_copy(exec, target,
                      Kokkos::subview(from_, 0, std::pair<std::int64_t, std::int64_t>(0, width)));
    exec.fence("Blockspan::solvers: column numbers");
    return result;
  }

  Numbers from_, to_;
};

}  // namespace blockspan::detail
