#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/detail/host_csr.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

// The parts of find_asymmetry.

namespace blockspan::detail {

template <class Scalar>
KOKKOS_FUNCTION real_t<Scalar> magnitude(Scalar const& x) {
  return Kokkos::abs(x);  // of a complex number: without over- or underflow on the way
}

/// The largest entry of every row, and whether every row ascends.
template <class Offsets, class Indices, class Values, class Largest>
struct RowsInOrder {
  Offsets offsets;  // rows + 1
  Indices indices;
  Values values;
  Largest largest;  // rows

  KOKKOS_FUNCTION void operator()(std::int64_t row, int& ordered) const {
    typename Largest::non_const_value_type most = 0;
    for (auto p = offsets(row); p < offsets(row + 1); ++p) {
      auto const size = magnitude(values(p));
      if (size > most) most = size;
      if (p > offsets(row) && indices(p) <= indices(p - 1)) ordered = 0;
    }
    largest(row) = most;
  }
};

/// The largest |a_ij - conj(a_ji)| / what is allowed there.
template <class Offsets, class Indices, class Values, class Largest>
struct WorstEntry {
  using Scalar = typename Values::non_const_value_type;
  using Real = real_t<Scalar>;
  using value_type = Real;  // of the reduction: a generic operator() does not tell

  /// What rounding to single precision, or to six digits, may do to an entry, and to a sum.
  static constexpr Real of_entry = static_cast<Real>(1e-6);
  static constexpr Real of_sum = std::numeric_limits<float>::epsilon();

  Offsets offsets;  // rows + 1
  Indices indices;
  Values values;
  Largest largest;  // rows

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

  /// Above 1: more than rounding. Every number is halved, so that no difference overflows.
  KOKKOS_FUNCTION Real excess(std::int64_t i, std::int64_t j, Scalar const& value) const {
    Scalar const mirror = entry(j, i);
    Real const half = static_cast<Real>(0.5);
    Real const difference = magnitude(Scalar(half * value - half * conjugate(mirror)));
    if (!(difference > 0)) return 0;
    Real const size = Kokkos::fmax(magnitude(value), magnitude(mirror));
    Real const rows = Kokkos::sqrt(largest(i)) * Kokkos::sqrt(largest(j));
    Real const allowed = half * Kokkos::fmax(of_entry * size, of_sum * rows);
    return difference / allowed;
  }

  KOKKOS_FUNCTION Real of_row(std::int64_t row) const {
    Real worst = 0;
    for (auto p = offsets(row); p < offsets(row + 1); ++p) {
      Real const here = excess(row, static_cast<std::int64_t>(indices(p)), values(p));
      if (here > worst) worst = here;
    }
    return worst;
  }

  /// A row by the lanes of a team of one thread.
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, Real& worst) const {
    auto const row = static_cast<std::int64_t>(team.league_rank());
    auto const first = offsets(row);
    Real of_this = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, static_cast<std::int64_t>(offsets(row + 1) - first)),
        [&](std::int64_t k, Real& lane) {
          auto const p = first + static_cast<typename Offsets::non_const_value_type>(k);
          Real const here = excess(row, static_cast<std::int64_t>(indices(p)), values(p));
          if (here > lane) lane = here;
        },
        Kokkos::Max<Real>(of_this));
    if (of_this > worst) worst = of_this;
  }
};

/// means := (A + A^H) / 2 on the places of A; an entry without a mirror becomes zero.
template <class Offsets, class Indices, class Values, class Largest, class Means>
struct HermitianMeans {
  using Scalar = typename Values::non_const_value_type;
  WorstEntry<Offsets, Indices, Values, Largest> parts;
  Means means;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const half = static_cast<real_t<Scalar>>(0.5);  // of each: no sum overflows
    for (auto p = parts.offsets(i); p < parts.offsets(i + 1); ++p) {
      auto const j = static_cast<std::int64_t>(parts.indices(p));
      Scalar const value = parts.values(p);
      Scalar const* const mirror = parts.find(j, i);
      means(p) = mirror == nullptr ? Scalar(0) : Scalar(half * value + half * conjugate(*mirror));
    }
  }
};

/// The check of one matrix, where `exec` computes.
template <class Exec, class Offsets, class Indices, class Values>
class SymmetryCheck {
 public:
  using Real = real_t<typename Values::non_const_value_type>;
  using Largest = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  SymmetryCheck(Exec const& exec, Offsets const& offsets, Indices const& indices,
                Values const& values)
      : exec_(exec),
        rows_(static_cast<std::int64_t>(offsets.extent(0)) - 1),
        parts_{offsets, indices, values,
               allocate<Largest>(exec, "Blockspan::largest_entries", rows_)} {
    Kokkos::parallel_reduce(
        "Blockspan::rows_in_order",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows_),
        RowsInOrder<Offsets, Indices, Values, Largest>{offsets, indices, values, parts_.largest},
        Kokkos::Min<int>(in_order_));
  }

  /// Whether every row ascends: the rest needs it.
  bool in_order() const { return in_order_ != 0; }

  Real worst() const {
    Real worst = 0;
    constexpr int lanes =
        Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible ? 1
                                                                                               : 8;
    Kokkos::parallel_reduce("Blockspan::find_asymmetry",
                            Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                exec_, static_cast<int>(rows_), 1, lanes),
                            parts_, Kokkos::Max<Real>(worst));
    return worst;
  }

  template <class Means>
  void take_means(Means const& means) const {
    Kokkos::parallel_for(
        "Blockspan::hermitian_mean",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, rows_),
        HermitianMeans<Offsets, Indices, Values, Largest, Means>{parts_, means});
  }

  /// On the host: the first of the worst entries, if any is more than rounding.
  template <class Report>
  Report describe() const {
    Report report;
    Real most = 1;
    std::int64_t row = -1;
    for (std::int64_t i = 0; i < rows_; ++i)
      if (Real const here = parts_.of_row(i); here > most) {
        most = here;
        row = i;
      }
    if (row < 0) return report;
    for (auto p = parts_.offsets(row); report.hermitian; ++p) {
      auto const column = static_cast<std::int64_t>(parts_.indices(p));
      if (parts_.excess(row, column, parts_.values(p)) != most) continue;
      report = {false,
                row,
                column,
                parts_.values(p),
                parts_.entry(column, row),
                parts_.largest(row),
                parts_.largest(column)};
    }
    return report;
  }

 private:
  Exec exec_;
  std::int64_t rows_;
  WorstEntry<Offsets, Indices, Values, Largest> parts_;
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

}  // namespace blockspan::detail
