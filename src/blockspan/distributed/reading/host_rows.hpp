#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/partition/local_rows.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::distributed {

/// Copies values on the host to a view in memory of Exec. Fences.
template <class Exec, class To, class From>
Kokkos::View<To*, Kokkos::Device<Exec, typename Exec::memory_space>> to_exec(
    Exec const& exec, char const* label, std::span<From const> values) {
  using View = Kokkos::View<To*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  auto const view = allocate<View>(exec, label, values.size());
  auto const host = Kokkos::create_mirror_view(view);
  exec.fence("Blockspan::distributed: memory");
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = static_cast<To>(values[i]);
  Kokkos::deep_copy(exec, view, host);
  exec.fence("Blockspan::distributed: values of the host");
  return view;
}

/// Rows [first, last) of each range; ascending and disjoint.
using RowRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Rows of a matrix in host memory, with columns numbered from `first_column`; rows outside
/// `ranges` are empty.
template <class Matrix>
LocalRows<typename Matrix::non_const_value_type> host_rows(Matrix const& A, RowRanges const& ranges,
                                                           std::int64_t first_column) {
  auto const host = [](auto const& view, std::int64_t first, std::int64_t last) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                               Kokkos::subview(view, std::pair(first, last)));
  };
  LocalRows<typename Matrix::non_const_value_type> rows;
  auto& offsets = rows.offsets;
  offsets.reserve(static_cast<std::size_t>(A.numRows()) + 1);
  for (auto const& [first, last] : ranges) {
    if (first == last) continue;
    offsets.resize(static_cast<std::size_t>(first) + 1, offsets.back());
    auto const own = host(A.graph.row_map, first, last + 1);
    std::int64_t const begin = own(0), end = own(static_cast<std::size_t>(last - first));
    std::int64_t const shift = offsets.back() - begin;
    for (std::size_t i = 1; i < own.extent(0); ++i) offsets.push_back(own(i) + shift);
    auto const columns = host(A.graph.entries, begin, end);
    auto const values = host(A.values, begin, end);
    std::size_t const before = rows.columns.size();
    rows.columns.resize(before + columns.extent(0));
    for (std::size_t k = 0; k < columns.extent(0); ++k)
      rows.columns[before + k] = first_column + columns(k);
    rows.values.insert(rows.values.end(), values.data(), values.data() + values.extent(0));
  }
  offsets.resize(static_cast<std::size_t>(A.numRows()) + 1, offsets.back());
  return rows;
}

/// Merges the rows of two lists, sorted by column: `own` has columns from `first` on, of this rank,
/// `across` columns of other ranks, both sorted.
template <class Scalar>
LocalRows<Scalar> merge_rows(LocalRows<Scalar> const& own, LocalRows<Scalar> const& across,
                             std::int64_t first) {
  LocalRows<Scalar> rows;
  std::size_t const entries = own.values.size() + across.values.size();
  rows.columns.reserve(entries), rows.values.reserve(entries);
  auto const add = [&](LocalRows<Scalar> const& from, std::int64_t k) {
    rows.columns.push_back(from.columns[static_cast<std::size_t>(k)]);
    rows.values.push_back(from.values[static_cast<std::size_t>(k)]);
  };
  for (std::size_t i = 0; i + 1 < own.offsets.size(); ++i) {
    auto k = across.offsets[i];
    auto const end = across.offsets[i + 1];
    for (; k < end && across.columns[static_cast<std::size_t>(k)] < first; ++k) add(across, k);
    for (auto own_k = own.offsets[i]; own_k < own.offsets[i + 1]; ++own_k) add(own, own_k);
    for (; k < end; ++k) add(across, k);
    rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }
  return rows;
}

/// The first `at_head` and the last `at_tail` rows of a rank, merged; all others are empty.
template <class Matrix, class Scalar>
LocalRows<Scalar> rows_at_ends(Matrix const& own, LocalRows<Scalar> const& across,
                               std::int64_t at_head, std::int64_t at_tail, std::int64_t first) {
  std::int64_t const n = own.numRows();
  return merge_rows(host_rows(own, {{0, at_head}, {n - at_tail, n}}, first), across, first);
}

}  // namespace blockspan::distributed
