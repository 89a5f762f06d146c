#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo.hpp>
#include <blockspan/distributed/halo/exchange_lists.hpp>
#include <blockspan/distributed/partition/local_rows.hpp>
#include <blockspan/distributed/reading/host_rows.hpp>
#include <blockspan/support/scalar.hpp>

// Rows of P^H A P on several ranks, where P has no couplings across ranks: the contributions at
// rank boundaries, in host memory.

namespace blockspan::distributed {

/// The local rows that depend on other ranks or are needed there: those before and after the
/// interior, and those that are sent.
template <class Scalar, class Exec>
RowRanges rows_at_cuts(DistributedMatrix<Scalar, Exec> const& A) {
  using Matrix = DistributedMatrix<Scalar, Exec>;
  std::vector<std::int64_t> rows(A.halo().sent);
  for (auto const which : {Matrix::lower_boundary, Matrix::upper_boundary}) {
    auto const& part = A.part(which);
    for (std::int64_t i = 0; i < part.rows(); ++i) rows.push_back(part.first + i);
  }
  std::sort(rows.begin(), rows.end());
  RowRanges ranges;
  for (std::int64_t const row : rows)
    if (!ranges.empty() && row <= ranges.back().second)
      ranges.back().second = row + 1;
    else
      ranges.emplace_back(row, row + 1);
  return ranges;
}

/// The rows of P for the rows of a halo. P: this rank's rows, with global columns; rows that are
/// not sent may be empty. Called by all ranks.
template <class Scalar>
LocalRows<Scalar> rows_of_halo(Communicator const& ranks, HaloExchange const& halo,
                               LocalRows<Scalar> const& P) {
  std::vector<std::int64_t> lengths, from = {0}, columns;
  std::vector<Scalar> values;
  for (std::int64_t const row : halo.sent) {
    auto const first = P.offsets[static_cast<std::size_t>(row)],
               last = P.offsets[static_cast<std::size_t>(row) + 1];
    lengths.push_back(last - first);
    from.push_back(from.back() + last - first);
    columns.insert(columns.end(), P.columns.begin() + first, P.columns.begin() + last);
    values.insert(values.end(), P.values.begin() + first, P.values.begin() + last);
  }
  LocalRows<Scalar> rows;
  for (std::int64_t const length : exchange_values(ranks, halo, lengths))
    rows.offsets.push_back(rows.offsets.back() + length);
  rows.columns = exchange_lists(ranks, halo, columns, from, rows.offsets);
  rows.values = exchange_lists(ranks, halo, values, from, rows.offsets);
  return rows;
}

/// Accumulates the entries of one row at a time, by columns [0, columns).
template <class Scalar>
class RowSum {
 public:
  explicit RowSum(std::size_t columns) : sums_(columns), used_(columns, 0) {}

  void add(std::size_t column, Scalar const& value) {
    if (used_[column] == 0) used_[column] = 1, order_.push_back(column);
    sums_[column] += value;
  }
  /// Appends the row to `rows`, sorted by column, with columns named name(column), and clears it.
  template <class Name>
  void take(LocalRows<Scalar>& rows, Name const& name) {
    std::sort(order_.begin(), order_.end());
    for (std::size_t const column : order_) {
      rows.columns.push_back(name(column));
      rows.values.push_back(sums_[column]);
      sums_[column] = Scalar(0), used_[column] = 0;
    }
    order_.clear();
    rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }

 private:
  std::vector<Scalar> sums_;
  std::vector<char> used_;
  std::vector<std::size_t> order_;
};

/// The contributions of the entries of A across ranks to this rank's `coarse` rows of P^H A P, in
/// columns of other ranks. P: this rank's rows, of which only those at rank boundaries are read.
template <class Scalar, class Exec>
LocalRows<Scalar> coarse_entries_across(DistributedMatrix<Scalar, Exec> const& A,
                                        LocalRows<Scalar> const& P, LocalRows<Scalar> const& halo_P,
                                        std::int64_t first_coarse, std::int64_t coarse) {
  std::vector<std::int64_t> columns = halo_P.columns;
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<std::size_t> place;  // index in `columns` of each entry of halo_P
  for (std::int64_t const column : halo_P.columns)
    place.push_back(static_cast<std::size_t>(
        std::lower_bound(columns.begin(), columns.end(), column) - columns.begin()));

  struct Need {
    std::int64_t coarse;
    std::size_t product;
    Scalar factor;
  };
  std::vector<Need> needs;
  LocalRows<Scalar> products;  // rows of A P from entries across ranks alone, by index in `columns`
  RowSum<Scalar> sum(columns.size());
  using Matrix = DistributedMatrix<Scalar, Exec>;
  for (auto const which : {Matrix::lower_boundary, Matrix::upper_boundary}) {
    auto const& part = A.part(which);
    auto const rows = host_rows(part.matrix, {{0, part.rows()}}, 0);
    for (std::int64_t i = 0; i < part.rows(); ++i) {
      bool any = false;
      for (auto k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
        std::int64_t const packed = rows.columns[k] - A.lower_rows();
        if (packed >= 0 && packed < A.own_rows()) continue;
        any = true;
        std::int64_t const ghost = packed < 0 ? rows.columns[k] : rows.columns[k] - A.own_rows();
        for (auto p = halo_P.offsets[ghost]; p < halo_P.offsets[ghost + 1]; ++p)
          sum.add(place[p], rows.values[k] * halo_P.values[p]);
      }
      if (!any) continue;
      auto const row = static_cast<std::size_t>(part.first + i);
      for (auto p = P.offsets[row]; p < P.offsets[row + 1]; ++p)
        needs.push_back(
            {P.columns[p] - first_coarse, products.offsets.size() - 1, conjugate(P.values[p])});
      sum.take(products, [](std::size_t column) { return static_cast<std::int64_t>(column); });
    }
  }

  // the needs of each coarse row, in the order of the products
  std::vector<std::size_t> begin(static_cast<std::size_t>(coarse) + 1, 0), order(needs.size());
  for (auto const& need : needs) ++begin[static_cast<std::size_t>(need.coarse) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  auto next = begin;
  for (std::size_t k = 0; k < needs.size(); ++k)
    order[next[static_cast<std::size_t>(needs[k].coarse)]++] = k;

  LocalRows<Scalar> entries;
  entries.offsets.reserve(begin.size());
  for (std::size_t row = 0; row + 1 < begin.size(); ++row) {
    for (auto n = begin[row]; n < begin[row + 1]; ++n) {
      auto const& need = needs[order[n]];
      for (auto k = products.offsets[need.product]; k < products.offsets[need.product + 1]; ++k)
        sum.add(static_cast<std::size_t>(products.columns[k]), need.factor * products.values[k]);
    }
    sum.take(entries, [&](std::size_t column) { return columns[column]; });
  }
  return entries;
}

}  // namespace blockspan::distributed
