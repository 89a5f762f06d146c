#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <blockspan/sparse/matrix_market/matrix_market_passes.hpp>

namespace blockspan::sparse {

/// Sorts the entries of a row by column, repeated ones by value: an order that forgets in which
/// order threads delivered them. Above the diagonal the mirrored values decide, so that repeated
/// entries add up to exact mirror images on both sides.
template <class Scalar, class Ordinal>
class RowSorter {
 public:
  explicit RowSorter(MatrixMarketSymmetry symmetry) : symmetry_(symmetry) {}

  /// Returns whether a column is repeated.
  bool sort(std::int64_t row, Ordinal* indices, Scalar* values, std::int64_t size) {
    row_ = row;
    auto const ascending = std::is_sorted_until(indices, indices + size, std::less_equal<>());
    if (ascending == indices + size) return false;
    // Rows are filled from their ends, so a file in order arrives here in reverse.
    std::reverse(indices, indices + size);
    std::reverse(values, values + size);
    if (std::is_sorted(indices, indices + size, std::less_equal<>())) return false;
    constexpr std::int64_t few = 32;
    size <= few ? insert(indices, values, size) : permute(indices, values, size);
    return std::adjacent_find(indices, indices + size) != indices + size;
  }

 private:
  bool before(Ordinal i, Scalar const& x, Ordinal j, Scalar const& y) const {
    if (i != j) return i < j;
    if (i <= row_) return value_before(x, y);
    return value_before(mirrored(symmetry_, x), mirrored(symmetry_, y));
  }

  static bool value_before(Scalar const& x, Scalar const& y) {
    if constexpr (is_complex_v<Scalar>)
      return x.real() != y.real() ? x.real() < y.real() : x.imag() < y.imag();
    else
      return x < y;
  }

  void insert(Ordinal* indices, Scalar* values, std::int64_t size) const {
    for (std::int64_t i = 1; i < size; ++i) {
      Ordinal const index = indices[i];
      Scalar const value = values[i];
      std::int64_t hole = i;
      for (; hole > 0 && before(index, value, indices[hole - 1], values[hole - 1]); --hole) {
        indices[hole] = indices[hole - 1];
        values[hole] = values[hole - 1];
      }
      indices[hole] = index;
      values[hole] = value;
    }
  }

  /// Sorts the order only and moves the entries along its cycles: 8 bytes an entry of one row.
  void permute(Ordinal* indices, Scalar* values, std::int64_t size) {
    order_.resize(static_cast<std::size_t>(size));
    std::iota(order_.begin(), order_.end(), std::int64_t(0));
    std::sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) {
      return before(indices[a], values[a], indices[b], values[b]);
    });
    for (std::int64_t start = 0; start < size; ++start) {
      Ordinal const index = indices[start];
      Scalar const value = values[start];
      std::int64_t to = start;
      for (;;) {
        auto const from = std::exchange(order_[static_cast<std::size_t>(to)], to);
        if (from == start) break;
        indices[to] = indices[from];
        values[to] = values[from];
        to = from;
      }
      indices[to] = index;
      values[to] = value;
    }
  }

  MatrixMarketSymmetry symmetry_;
  std::int64_t row_ = 0;
  std::vector<std::int64_t> order_;
};

/// Sorts all rows, in blocks that are scheduled dynamically; returns whether any column is
/// repeated.
template <class Scalar, class Offset, class Ordinal>
bool sort_rows(HostCsr<Scalar, Offset, Ordinal> const& A, MatrixMarketSymmetry symmetry,
               int threads) {
  constexpr std::int64_t block = 1024;
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> repeated = false;
  run_workers(threads, [&] {
    RowSorter<Scalar, Ordinal> sorter(symmetry);
    for (;;) {
      std::int64_t const first = next.fetch_add(block);
      if (first >= A.rows) return;
      for (std::int64_t row = first; row < std::min(first + block, A.rows); ++row) {
        auto const begin = A.offsets(row);
        auto const size = static_cast<std::int64_t>(A.offsets(row + 1) - begin);
        if (sorter.sort(row, A.indices.data() + begin, A.values.data() + begin, size))
          repeated = true;
      }
    }
  });
  return repeated;
}

/// Adds up repeated entries of sorted rows, in place; returns the number of entries left.
template <class Scalar, class Offset, class Ordinal>
Offset add_repeated(HostCsr<Scalar, Offset, Ordinal> const& A) {
  Offset out = 0;
  Offset begin = A.offsets(0);
  for (std::int64_t row = 0; row < A.rows; ++row) {
    Offset const end = A.offsets(row + 1);
    Offset const first = out;
    A.offsets(row) = first;
    for (Offset p = begin; p < end; ++p) {
      if (out > first && A.indices(out - 1) == A.indices(p)) {
        A.values(out - 1) += A.values(p);
      } else {
        A.indices(out) = A.indices(p);
        A.values(out) = A.values(p);
        ++out;
      }
    }
    begin = end;
  }
  A.offsets(A.rows) = out;
  return out;
}

}  // namespace blockspan::sparse
