#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/sixteen_bit_registers.hpp>
#include <blockspan/spmm/sddmm.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/registers/row_registers.hpp>
#include <blockspan/support/registers/sixteen_bit.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

inline namespace BLOCKSPAN_REGISTERS {

/// The sum of a register's elements, halves first.
template <class Real, int Width>
BLOCKSPAN_HOST_INLINE Real sum_of(typename RegistersOf<Real, Width>::type const& values) {
  if constexpr (Width == 1) {
    return values;
  } else {
    typename RegistersOf<Real, Width / 2>::type halves[2];
    std::memcpy(halves, &values, sizeof(halves));
    return sum_of<Real, Width / 2>(halves[0] + halves[1]);
  }
}

template <class Real>
using LastLanes = LaneMask<Real, register_bytes / int(sizeof(Real))>;

/// sum_j x_j y_j of count % (2 Width) elements; masked loads do not exist for 16 bits.
template <int Width, class Storage>
BLOCKSPAN_HOST_INLINE float dot_of_last(float const* x, Storage const* y, int count) {
  float sum = 0;
  int const here = count & Width;
  if (here != 0) {
    typename RegistersOf<float, Width>::type values;
    std::memcpy(&values, x, sizeof(values));
    sum = sum_of<float, Width>(values * widen<Width>(y));
  }
  if constexpr (Width > 1) sum += dot_of_last<Width / 2>(x + here, y + here, count);
  return sum;
}

/// sum_j x_j y_j of contiguous elements. Two chains of additions; nothing beyond the ends is read.
/// rest: of those that fill no register.
template <class Real, class Storage>
BLOCKSPAN_HOST_INLINE Real dot_of_rows(Real const* x, Storage const* y, int count,
                                       LastLanes<Real> const& rest) {
  constexpr int width = register_bytes / int(sizeof(Real));
  using Register = typename RegistersOf<Real, width>::type;
  auto const load = []<class From>(From const* from) -> Register {
    if constexpr (is_sixteen_bit_v<From>) {
      return widen<width>(from);
    } else {
      Register result;
      std::memcpy(&result, from, sizeof(Register));
      return result;
    }
  };
  Register even = {}, odd = {};
  int j = 0;
  for (; count - j >= 2 * width; j += 2 * width) {
    even += load(x + j) * load(y + j);
    odd += load(x + j + width) * load(y + j + width);
  }
  if (count - j >= width) {
    even += load(x + j) * load(y + j);
    j += width;
  }
  if constexpr (is_sixteen_bit_v<Storage>) {
    Real const last = dot_of_last<width / 2>(x + j, y + j, count - j);
    return j > 0 ? sum_of<Real, width>(even + odd) + last : last;
  } else {
    if (j < count) odd += rest.load(x + j) * rest.load(y + j);
    return sum_of<Real, width>(even + odd);
  }
}

/// values_k = alpha sum_j X(i_k, j) Y(j_k, j) + beta values_k, a team for tuning::sampled_entries
/// neighbouring entries.
///
/// Hosts: a complex row of X is taken apart once for all entries of its row, into (re, -im) and
/// (im, re), whose real products with a row of Y as it lies in memory are both parts of the sum.
/// So the loop is the same for real and complex, without shuffles.
///
/// 16-bit scalars become floats: those of X once, those of Y in their dots.
///
/// Devices: a team thread owns neighbouring entries, its vector lanes stride over the columns.
template <class Exec, class Scalar, class Storage, class Offset, class Ordinal>
struct SampledKernel {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Team = typename Policy::member_type;
  using Real = real_t<Scalar>;
  static constexpr int parts = is_complex_v<Scalar> ? 2 : 1;
  static constexpr bool as_stored = std::is_same_v<Scalar, Storage>;

  PatternRef<Offset, Ordinal> A;
  BlockRef<Storage const> X, Y;  ///< of no columns if alpha is zero
  BlockRef<Storage> values;
  Scalar alpha, beta;
  bool overwrite, conjugate_x, conjugate_y;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const first = std::int64_t{team.league_rank()} * tuning::sampled_entries;
    std::int64_t const stored = static_cast<std::int64_t>(A.row_offsets[A.rows]);
    std::int64_t const last =
        stored - first < tuning::sampled_entries ? stored : first + tuning::sampled_entries;
    KOKKOS_IF_ON_HOST((sample_on_host(first, last);))
    KOKKOS_IF_ON_DEVICE((sample_on_device(team, first, last);))
  }

  void launch(Exec const& exec) const {
    auto const teams = static_cast<int>(ceil_div(A.entries, std::int64_t{tuning::sampled_entries}));
    int const threads = runs_on_host_v<Exec> ? 1 : tuning::sampled_team_threads;
    int const lanes = runs_on_host_v<Exec> ? 1 : 1 << bits_to_hold(X.columns, 5);
    if (teams > 0)
      Kokkos::parallel_for("Blockspan::sddmm", Policy(exec, teams, threads, lanes), *this);
  }

 private:
  KOKKOS_FUNCTION std::int64_t end_of(std::int64_t row) const {
    return static_cast<std::int64_t>(A.row_offsets[row + 1]);
  }
  /// The row, from `begin` on, that the entry is in.
  KOKKOS_FUNCTION std::int64_t row_of(std::int64_t entry, std::int64_t begin) const {
    if (end_of(begin) > entry) return begin;
    std::int64_t end = A.rows - 1;  // is it, or one before is; `begin` is not
    while (end - begin > 1) {
      std::int64_t const middle = begin + (end - begin) / 2;
      (end_of(middle) > entry ? end : begin) = middle;
    }
    return end;
  }
  KOKKOS_FUNCTION std::int64_t next_row(std::int64_t entry, std::int64_t row) const {
    return end_of(row) > entry ? row : row_of(entry, row + 1);
  }

  KOKKOS_FUNCTION void write(std::int64_t entry, Scalar const& sum) const {
    Storage& value = values(0, entry);
    value = Storage(overwrite ? alpha * sum : alpha * sum + beta * Scalar(value));
  }

  KOKKOS_FUNCTION void sample_on_device(Team const& team, std::int64_t first,
                                        std::int64_t last) const {
    constexpr int share = tuning::sampled_entries / tuning::sampled_team_threads;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tuning::sampled_team_threads),
                         [&](int thread) {
                           std::int64_t const begin = first + std::int64_t{thread} * share;
                           std::int64_t const end = begin + share < last ? begin + share : last;
                           std::int64_t row = begin < end ? row_of(begin, 0) : 0;
                           for (std::int64_t k = begin; k < end; ++k) {
                             row = next_row(k, row);
                             auto const column = static_cast<std::int64_t>(A.column_indices[k]);
                             Scalar sum(0);
                             Kokkos::parallel_reduce(
                                 Kokkos::ThreadVectorRange(team, static_cast<int>(X.columns)),
                                 [&](int j, Scalar& to) {
                                   to += conjugate_if(conjugate_x, Scalar(X(row, j))) *
                                         conjugate_if(conjugate_y, Scalar(Y(column, j)));
                                 },
                                 sum);
                             Kokkos::single(Kokkos::PerThread(team), [&] { write(k, sum); });
                           }
                         });
  }

  void sample_on_host(std::int64_t first, std::int64_t last) const {
    std::int64_t row = first < last ? row_of(first, 0) : 0;
    for (std::int64_t k = first; k < last;) {
      row = next_row(k, row);
      std::int64_t const end = std::min(last, end_of(row));
      sample_row(row, k, end, last);
      k = end;
    }
  }

  /// Entries [first, last) of a row; the team has entries up to `end`.
  BLOCKSPAN_NOINLINE void sample_row(std::int64_t row, std::int64_t first, std::int64_t last,
                                     std::int64_t end) const {
    constexpr int panel = tuning::sampled_panel / parts;  // columns
    alignas(Scalar) Real memory[parts * tuning::sampled_entries];
    auto* const sums = reinterpret_cast<Scalar*>(memory);
    std::fill_n(memory, parts * (last - first), Real(0));
    Ordinal const* const indices = A.column_indices;
    std::int64_t const stride = Y.row_stride, prefetch_end = end - tuning::sampled_rows_ahead;
    for (std::int64_t column = 0; column < X.columns; column += panel) {
      auto const columns = static_cast<int>(std::min<std::int64_t>(panel, X.columns - column));
      Real x[parts][tuning::sampled_panel];
      Real const* const by_part = take_apart(&X(row, column), columns, x);
      Storage const* const y = Y.data + column * Y.column_stride;
      auto const row_of_y = [&](std::int64_t k) {
        return y + static_cast<std::int64_t>(indices[k]) * stride;
      };
      if (Y.column_stride == 1) {
        int const asked = std::min(columns * int(sizeof(Storage)), tuning::sampled_asked_bytes);
        add_panel(by_part, x[parts - 1], first, last, columns, sums, [&](std::int64_t k) {
          if (k < prefetch_end) {
            auto const* const later =
                reinterpret_cast<char const*>(row_of_y(k + tuning::sampled_rows_ahead));
            for (int byte = 0; byte < asked; byte += 64) __builtin_prefetch(later + byte);
          }
          return reinterpret_cast<std::conditional_t<as_stored, Real, Storage> const*>(row_of_y(k));
        });
        continue;
      }
      alignas(Scalar) Real gathered[tuning::sampled_panel];
      auto* const to = reinterpret_cast<Scalar*>(gathered);
      add_panel(by_part, x[parts - 1], first, last, columns, sums, [&](std::int64_t k) {
        Storage const* const from = row_of_y(k);
        for (int j = 0; j < columns; ++j) to[j] = Scalar(from[j * Y.column_stride]);
        return gathered;
      });
    }
    for (std::int64_t k = first; k < last; ++k) write(k, sums[k - first]);
  }

  /// The row of X as the dots want it; real and contiguous: where it is.
  Real const* take_apart(Storage const* from, int columns,
                         Real (&x)[parts][tuning::sampled_panel]) const {
    if constexpr (is_complex_v<Scalar>) {
      // x y = (xr yr - xi yi) + (xi yr + xr yi) i; conj(y) changes the signs of yi
      Real const of_y = conjugate_y ? Real(-1) : Real(1);
      for (int j = 0; j < columns; ++j) {
        Scalar const value = conjugate_if(conjugate_x, Scalar(from[j * X.column_stride]));
        x[0][2 * j] = value.real();
        x[0][2 * j + 1] = -of_y * value.imag();
        x[1][2 * j] = value.imag();
        x[1][2 * j + 1] = of_y * value.real();
      }
      return x[0];
    } else {
      bool const contiguous = X.column_stride == 1;
      if constexpr (as_stored) {
        if (contiguous) return from;
      } else if (contiguous) {
        widen_row(from, columns, x[0]);
        return x[0];
      }
      for (int j = 0; j < columns; ++j) x[0][j] = Real(from[j * X.column_stride]);
      return x[0];
    }
  }

  /// row_of_y(k): the contiguous row of Y of entry k.
  template <class RowOfY>
  BLOCKSPAN_HOST_INLINE void add_panel(Real const* real, [[maybe_unused]] Real const* imaginary,
                                       std::int64_t first, std::int64_t last, int columns,
                                       Scalar* sums, RowOfY const& row_of_y) const {
    int const count = parts * columns;
    auto const rest = LastLanes<Real>::first(count % (register_bytes / int(sizeof(Real))));
    for (std::int64_t k = first; k < last; ++k) {
      auto const* const y = row_of_y(k);
      if constexpr (is_complex_v<Scalar>)
        sums[k - first] +=
            Scalar(dot_of_rows(real, y, count, rest), dot_of_rows(imaginary, y, count, rest));
      else
        sums[k - first] += dot_of_rows(real, y, count, rest);
    }
  }
};

}  // namespace BLOCKSPAN_REGISTERS

template <class Exec, class Scalar, class Storage, class Offset, class Ordinal>
void sample(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
            SampledProduct<Scalar, Storage> const& product) {
  auto const& X = product.X;  // Clang 16 captures no structured binding where OpenMP is on
  auto const& Y = product.Y;
  auto const& values = product.values;
  auto const shapes = [&](auto const& sentence) {
    fail("blockspan::sddmm", sentence, " (A: ", A.rows, " x ", A.columns, ", ", A.entries,
         " entries; X: ", X.rows, " x ", X.columns, "; Y: ", Y.rows, " x ", Y.columns,
         "; values: ", values.columns, ")");
  };
  if (X.rows != A.rows) shapes("X must have as many rows as A");
  if (Y.rows != A.columns) shapes("Y must have as many rows as A has columns");
  if (X.columns != Y.columns) shapes("X and Y must have the same number of columns");
  if (values.columns != A.entries) shapes("values must be as many as A has entries");
  if (may_overlap<Storage>(X, values) || may_overlap<Storage>(Y, values))
    shapes("values must not overlap X or Y");
  SampledKernel<Exec, Scalar, Storage, Offset, Ordinal> kernel{
      A,
      X,
      Y,
      values,
      product.alpha,
      product.beta,
      product.beta == Scalar(0),
      product.conjugated == Conjugated::first,
      product.conjugated == Conjugated::second};
  if (product.alpha == Scalar(0)) kernel.X.columns = kernel.Y.columns = 0;
  if (A.rows > 0) kernel.launch(exec);
}

}  // namespace blockspan::products
