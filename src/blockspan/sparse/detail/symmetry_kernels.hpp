#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/detail/host_csr.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

// The parts of find_asymmetry and hermitian_mean.

namespace blockspan::detail {

template <class Scalar>
KOKKOS_FUNCTION real_t<Scalar> magnitude(Scalar const& x) {
  return Kokkos::abs(x);  // of a complex number: without over- or underflow on the way
}

/// Whether every row ascends.
template <class Offsets, class Indices>
struct RowsInOrder {
  Offsets offsets;  // rows + 1
  Indices indices;

  KOKKOS_FUNCTION void operator()(std::int64_t row, int& ordered) const {
    for (auto p = offsets(row) + 1; p < offsets(row + 1); ++p)
      if (indices(p) <= indices(p - 1)) ordered = 0;
  }
};

/// The largest |a_ij - conj(a_ji)| / max(|a_ij|, |a_ji|), for a reduction.
template <class Offsets, class Indices, class Values>
struct LargestDifference {
  using Scalar = typename Values::non_const_value_type;
  using Real = real_t<Scalar>;
  using value_type = Real;  // of the reduction: a generic operator() does not tell
  static constexpr Real least_normal = std::numeric_limits<Real>::min();

  Offsets offsets;  // rows + 1
  Indices indices;
  Values values;

  /// Where a_ij of rows in order is stored; null where it is not.
  KOKKOS_FUNCTION Scalar const* find(std::int64_t i, std::int64_t j) const {
    auto low = offsets(i), end = offsets(i + 1);
    while (low < end) {
      auto const middle = low + (end - low) / 2;
      if (static_cast<std::int64_t>(indices(middle)) < j)
        low = middle + 1;
      else
        end = middle;
    }
    bool const stored = low < offsets(i + 1) && static_cast<std::int64_t>(indices(low)) == j;
    return stored ? &values(low) : nullptr;
  }

  KOKKOS_FUNCTION Scalar entry(std::int64_t i, std::int64_t j) const {
    Scalar const* const stored = find(i, j);
    return stored != nullptr ? *stored : Scalar(0);
  }

  /// Up to 2, and 1 where one of the two is zero. Below the least normal number, where roundings
  /// no longer shrink with the numbers, relative to that. Large numbers are halved, so that no
  /// difference overflows.
  KOKKOS_FUNCTION Real difference(std::int64_t i, std::int64_t j, Scalar const& value) const {
    Scalar const mirror = conjugate(entry(j, i));
    bool const is_nan = value != value || mirror != mirror;  // is not judged
    if (value == mirror || is_nan) return 0;
    if (value == Scalar(0) || mirror == Scalar(0)) return 1;
    Real const share = static_cast<Real>(0.5);
    Real const halves =
        Kokkos::fmax(magnitude(Scalar(share * value)), magnitude(Scalar(share * mirror)));
    Real const factor = halves > 1 ? share : Real(1);
    Real const apart = magnitude(Scalar(factor * value - factor * mirror));
    Real const size = Kokkos::fmax(2 * factor * halves, least_normal);
    return apart / size;
  }

  KOKKOS_FUNCTION Real of_row(std::int64_t row) const {
    Real largest = 0;
    for (auto p = offsets(row); p < offsets(row + 1); ++p) {
      Real const here = difference(row, static_cast<std::int64_t>(indices(p)), values(p));
      if (here > largest) largest = here;
    }
    return largest;
  }

  /// A row by the lanes of a team of one thread.
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, Real& largest) const {
    auto const row = static_cast<std::int64_t>(team.league_rank());
    auto const first = offsets(row);
    Real of_this = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, static_cast<std::int64_t>(offsets(row + 1) - first)),
        [&](std::int64_t k, Real& lane) {
          auto const p = first + static_cast<typename Offsets::non_const_value_type>(k);
          Real const here = difference(row, static_cast<std::int64_t>(indices(p)), values(p));
          if (here > lane) lane = here;
        },
        Kokkos::Max<Real>(of_this));
    if (of_this > largest) largest = of_this;
  }
};

/// The check of one matrix, where `exec` computes.
template <class Exec, class Offsets, class Indices, class Values>
class SymmetryCheck {
 public:
  using Real = real_t<typename Values::non_const_value_type>;

  SymmetryCheck(Exec const& exec, Offsets const& offsets, Indices const& indices,
                Values const& values)
      : exec_(exec),
        rows_(static_cast<std::int64_t>(offsets.extent(0)) - 1),
        parts_{offsets, indices, values} {
    Kokkos::parallel_reduce(
        "Blockspan::rows_in_order",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows_),
        RowsInOrder<Offsets, Indices>{offsets, indices}, Kokkos::Min<int>(in_order_));
  }

  /// Whether every row ascends: the rest needs it.
  bool in_order() const { return in_order_ != 0; }

  Real largest() const {
    Real largest = 0;
    constexpr int lanes =
        Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible ? 1
                                                                                               : 8;
    Kokkos::parallel_reduce("Blockspan::find_asymmetry",
                            Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                exec_, static_cast<int>(rows_), 1, lanes),
                            parts_, Kokkos::Max<Real>(largest));
    return largest;
  }

  /// On the host: the first entry that differs most, if any differs.
  template <class Report>
  Report describe() const {
    Report report;
    for (std::int64_t i = 0; i < rows_; ++i)
      if (Real const here = parts_.of_row(i); here > report.difference) {
        report.difference = here;
        report.row = i;
      }
    if (report.row < 0) return report;
    for (auto p = parts_.offsets(report.row); report.column < 0; ++p) {
      auto const column = static_cast<std::int64_t>(parts_.indices(p));
      if (parts_.difference(report.row, column, parts_.values(p)) != report.difference) continue;
      report.column = column;
      report.entry = parts_.values(p);
      report.mirror = parts_.entry(column, report.row);
    }
    return report;
  }

 private:
  Exec exec_;
  std::int64_t rows_;
  LargestDifference<Offsets, Indices, Values> parts_;
  int in_order_ = 1;
};

/// Every row sorted, entries of the same place added up.
template <class Scalar, class Offset, class Ordinal>
auto rows_in_order(HostCsr<Scalar const, Offset const, Ordinal const> const& A) {
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
  return B;
}

/// A^H of rows in order, in order.
template <class Scalar, class Offset, class Ordinal>
auto adjoint_of(HostCsr<Scalar, Offset, Ordinal> const& A) {
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

/// (A + B) / 2 of rows in order; entries that A and B share stay as they are, to the bit.
template <class Scalar, class Offset, class Ordinal>
auto mean_of(HostCsr<Scalar, Offset, Ordinal> const& A, HostCsr<Scalar, Offset, Ordinal> const& B) {
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

}  // namespace blockspan::detail
