#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

// Kernels and host steps of find_asymmetry and hermitian_mean.

namespace blockspan::sparse {

template <class Scalar>
KOKKOS_FUNCTION real_t<Scalar> magnitude(Scalar const& x) {
  return Kokkos::abs(x);  // of a complex value by hypot, without intermediate over- or underflow
}

/// Whether the columns of every row are strictly ascending.
template <class Offsets, class Indices>
struct RowsInOrder {
  Offsets offsets;  // rows + 1
  Indices indices;

  KOKKOS_FUNCTION void operator()(std::int64_t row, int& ordered) const {
    for (auto p = offsets(row) + 1; p < offsets(row + 1); ++p)
      if (indices(p) <= indices(p - 1)) ordered = 0;
  }
};

template <class Exec, class Offsets, class Indices>
bool rows_ascend(Exec const& exec, Offsets const& offsets, Indices const& indices) {
  int ordered = 1;
  auto const rows = static_cast<std::int64_t>(offsets.extent(0)) - 1;
  Kokkos::parallel_reduce("Blockspan::rows_in_order", IndexRange<Exec>(exec, 0, rows),
                          RowsInOrder<Offsets, Indices>{offsets, indices},
                          Kokkos::Min<int>(ordered));
  return ordered != 0;
}

/// Sum of hashes of the entries above the diagonal minus those of the conjugated entries below,
/// each hashed with the indices of its mirror: zero where A equals A^H bit by bit, in any order of
/// entries within rows. One pass, without searches. Zero and NaN entries are skipped.
template <class Offsets, class Indices, class Values>
struct SumOfMirrors {
  using Scalar = typename Values::non_const_value_type;
  using Real = real_t<Scalar>;
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  using value_type = std::uint64_t;  // of the reduction: not deducible from operator()

  Offsets offsets;  // rows + 1
  Indices indices;
  Values values;

  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t bits_of(Real x) {
    return Kokkos::bit_cast<Bits>(x + Real(0));  // -0 is 0
  }
  /// Selects instead of branches, and one product for the indices: this runs for every entry.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t of_entry(std::uint64_t i, std::uint64_t j,
                                                            Scalar const& a) {
    constexpr std::uint64_t low = golden_gamma, high = golden_gamma * golden_gamma;
    bool const above = i < j;
    std::uint64_t hash = (above ? low : high) * i + (above ? high : low) * j;
    bool counts = a == a && a != Scalar(0);
    if constexpr (is_complex_v<Scalar>) {
      hash = mix_bits(hash + bits_of(i == j ? Real(0) : a.real()));
      hash += bits_of(above ? a.imag() : -a.imag());
      counts = counts && (i != j || a.imag() != 0);
    } else {
      hash += bits_of(a);
      counts = counts && i != j;
    }
    hash = counts ? mix_bits(hash) : 0;
    return above ? hash : 0 - hash;
  }

  /// One row, by the vector lanes of a team of one thread.
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, std::uint64_t& sum) const {
    auto const row = static_cast<std::int64_t>(team.league_rank());
    auto const first = offsets(row);
    auto const i = static_cast<std::uint64_t>(row);
    std::uint64_t of_row = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, static_cast<std::int64_t>(offsets(row + 1) - first)),
        [&](std::int64_t k, std::uint64_t& lane) {
          auto const p = first + static_cast<typename Offsets::non_const_value_type>(k);
          lane += of_entry(i, static_cast<std::uint64_t>(indices(p)), values(p));
        },
        of_row);
    sum += of_row;
  }
};

/// Whether A equals A^H bit by bit. O(entries), on `exec`, which it fences; a false positive has
/// probability 2^-64.
template <class Exec, class Offsets, class Indices, class Values>
bool equals_adjoint(Exec const& exec, Offsets const& offsets, Indices const& indices,
                    Values const& values) {
  constexpr int lanes =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible ? 1
                                                                                             : 8;
  auto const rows = static_cast<int>(offsets.extent(0)) - 1;
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "Blockspan::find_asymmetry",
      Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, rows, 1, lanes),
      SumOfMirrors<Offsets, Indices, Values>{offsets, indices, values}, sum);
  return sum == 0;
}

/// Compares entries with their mirrors, on the host. A has sorted rows.
template <class Scalar, class Offset, class Ordinal>
class Mirrors {
 public:
  using Real = real_t<Scalar>;

  explicit Mirrors(HostCsr<Scalar const, Offset const, Ordinal const> A) : A_(std::move(A)) {}

  /// The first entry with the largest `measure(i, j, entry, mirror)`, if any entry differs from its
  /// mirror. NaN is skipped.
  template <class Report, class Measure>
  Report most(Measure const& measure) const {
    Report report;
    for (std::int64_t i = 0; i < A_.rows; ++i)
      for (Offset p = A_.offsets(i); p < A_.offsets(i + 1); ++p) {
        auto const j = static_cast<std::int64_t>(A_.indices(p));
        Scalar const value = A_.values(p), other = entry(j, i, p - A_.offsets(i) + 1);
        Scalar const mirror = conjugate(other);
        if (value == mirror || value != value || mirror != mirror) continue;
        Real const here = measure(i, j, value, mirror);
        if (here > report.difference) report = {i, j, value, other, here};
      }
    return report;
  }

  /// |a_ij - conj(a_ji)| / max(|a_ij|, |a_ji|), up to 2, and 1 where one of the two is zero. For
  /// subnormal values, whose rounding errors do not scale with them, relative to the smallest
  /// normal value. Large values are halved, so that no difference overflows.
  static Real of_pair(std::int64_t, std::int64_t, Scalar const& value, Scalar const& mirror) {
    if (value == Scalar(0) || mirror == Scalar(0)) return 1;
    Real const share = static_cast<Real>(0.5);
    Real const halves =
        std::max(magnitude(Scalar(share * value)), magnitude(Scalar(share * mirror)));
    Real const factor = halves > 1 ? share : Real(1);
    Real const apart = magnitude(Scalar(factor * value - factor * mirror));
    return apart / std::max(2 * factor * halves, std::numeric_limits<Real>::min());
  }

  /// Scales of rows and columns for which the largest entry of each is 1 (Ruiz 2001,
  /// RAL-TR-2001-034).
  std::vector<Real> scales() const {
    constexpr int steps = 8;  // each takes the square root of the deviation
    std::vector<Real> scale(static_cast<std::size_t>(A_.rows), Real(1));
    std::vector<Real> largest(scale.size());
    for (int step = 0; step < steps; ++step) {
      std::fill(largest.begin(), largest.end(), Real(0));
      for (std::int64_t i = 0; i < A_.rows; ++i)
        for (Offset p = A_.offsets(i); p < A_.offsets(i + 1); ++p) {
          auto const row = static_cast<std::size_t>(i);
          auto const column = static_cast<std::size_t>(A_.indices(p));
          Real const size = magnitude(A_.values(p)) / scale[row] / scale[column];
          if (size > largest[row]) largest[row] = size;
          if (size > largest[column]) largest[column] = size;
        }
      Real left = 1;
      for (std::size_t i = 0; i < scale.size(); ++i) {
        if (!(largest[i] > 0)) continue;
        scale[i] *= std::sqrt(largest[i]);
        left = std::max({left, largest[i], 1 / largest[i]});
      }
      if (left < 2) break;
    }
    return scale;
  }

 private:
  /// a_ij. First tries the position `from_end` before the end of its row: in grids and bands the
  /// mirror of entry k of a row is there.
  Scalar entry(std::int64_t i, std::int64_t j, Offset from_end) const {
    Offset low = A_.offsets(i), end = A_.offsets(i + 1);
    auto const column = [&](Offset p) { return static_cast<std::int64_t>(A_.indices(p)); };
    if (end - low >= from_end && column(end - from_end) == j) return A_.values(end - from_end);
    auto const* const row = A_.indices.data();
    auto const* const at = std::lower_bound(row + low, row + end, static_cast<Ordinal>(j));
    return at != row + end && static_cast<std::int64_t>(*at) == j
               ? A_.values(static_cast<Offset>(at - row))
               : Scalar(0);
  }

  HostCsr<Scalar const, Offset const, Ordinal const> A_;
};

/// A with sorted rows and repeated entries added up; A itself if it is already so.
template <class Scalar, class Offset, class Ordinal>
HostCsr<Scalar const, Offset const, Ordinal const> rows_in_order(
    HostCsr<Scalar const, Offset const, Ordinal const> const& A) {
  if (rows_ascend(Kokkos::DefaultHostExecutionSpace(), A.offsets, A.indices)) return A;
  auto const B = zero_csr<Scalar, Offset, Ordinal>(A.rows, A.columns, A.values.extent(0));
  std::vector<std::pair<Ordinal, Scalar>> row;
  Offset out = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    row.clear();
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p)
      row.emplace_back(A.indices(p), A.values(p));
    std::stable_sort(row.begin(), row.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
    for (auto const& [column, value] : row) {
      if (out > B.offsets(i) && B.indices(out - 1) == column) {
        B.values(out - 1) += value;
      } else {
        B.indices(out) = column;
        B.values(out++) = value;
      }
    }
    B.offsets(i + 1) = out;
  }
  return {B.rows, B.columns, B.offsets, B.indices, B.values};
}

/// A^H of a matrix with sorted rows, with sorted rows.
template <class Scalar, class Offset, class Ordinal>
auto adjoint_of(HostCsr<Scalar const, Offset const, Ordinal const> const& A) {
  auto const B = zero_csr<Scalar, Offset, Ordinal>(A.columns, A.rows, A.values.extent(0));
  for (std::size_t p = 0; p < A.indices.extent(0); ++p)
    ++B.offsets(static_cast<std::int64_t>(A.indices(p)) + 1);
  for (std::int64_t j = 0; j < A.columns; ++j) B.offsets(j + 1) += B.offsets(j);
  std::vector<Offset> next(B.offsets.data(), B.offsets.data() + A.columns);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p) {
      Offset const q = next[static_cast<std::size_t>(A.indices(p))]++;
      B.indices(q) = static_cast<Ordinal>(i);
      B.values(q) = conjugate(A.values(p));
    }
  return B;
}

/// (A + B) / 2 of matrices with sorted rows; entries that are equal in A and B are copied bit by
/// bit.
template <class Scalar, class Offset, class Ordinal>
auto mean_of(HostCsr<Scalar const, Offset const, Ordinal const> const& A,
             HostCsr<Scalar, Offset, Ordinal> const& B) {
  auto const walk = [&](std::int64_t i, auto const& put) {
    auto const share = static_cast<real_t<Scalar>>(0.5);  // of each: no sum overflows
    Offset p = A.offsets(i), q = B.offsets(i);
    while (p < A.offsets(i + 1) || q < B.offsets(i + 1)) {
      bool const of_a =
          p < A.offsets(i + 1) && (q == B.offsets(i + 1) || A.indices(p) <= B.indices(q));
      bool const of_b =
          q < B.offsets(i + 1) && (p == A.offsets(i + 1) || B.indices(q) <= A.indices(p));
      Ordinal const column = of_a ? A.indices(p) : B.indices(q);
      Scalar const a = of_a ? A.values(p++) : Scalar(0), b = of_b ? B.values(q++) : Scalar(0);
      put(column, a == b ? a : Scalar(share * a + share * b));
    }
  };
  std::size_t entries = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) walk(i, [&](Ordinal, Scalar const&) { ++entries; });
  require(entries <= static_cast<std::size_t>(std::numeric_limits<Offset>::max()), "hermitian_mean",
          entries, " entries do not fit ", 8 * sizeof(Offset), "-bit offsets");
  auto const M = zero_csr<Scalar, Offset, Ordinal>(A.rows, A.columns, entries);
  Offset out = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    walk(i, [&](Ordinal column, Scalar const& value) {
      M.indices(out) = column;
      M.values(out++) = value;
    });
    M.offsets(i + 1) = out;
  }
  return M;
}

}  // namespace blockspan::sparse
