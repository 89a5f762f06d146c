#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/blocks.hpp"
#include "support/extended.hpp"

namespace blockspan::test {

/// What a result should be, in extended precision, and how far each entry may be from it.
template <class Scalar>
struct Reference {
  std::int64_t rows, columns;
  std::vector<extended_t<Scalar>> values;  ///< row-major
  std::vector<long double> bounds;

  Reference(std::int64_t n, std::int64_t k)
      : rows(n),
        columns(k),
        values(static_cast<std::size_t>(n * k)),
        bounds(static_cast<std::size_t>(n * k)) {}

  extended_t<Scalar>& value(std::int64_t i, std::int64_t j) { return values[index(i, j)]; }
  extended_t<Scalar> const& value(std::int64_t i, std::int64_t j) const {
    return values[index(i, j)];
  }
  long double& bound(std::int64_t i, std::int64_t j) { return bounds[index(i, j)]; }
  long double const& bound(std::int64_t i, std::int64_t j) const { return bounds[index(i, j)]; }

 private:
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * columns + j);
  }
};

/// Succeeds if every entry is within its bound; otherwise tells the three worst entries. NaN and
/// infinity are never within a bound.
template <class Scalar>
::testing::AssertionResult matches(HostBlock<Scalar> const& actual,
                                   Reference<Scalar> const& wanted) {
  if (actual.rows() != wanted.rows || actual.columns() != wanted.columns)
    return ::testing::AssertionFailure() << "shapes differ";
  struct Miss {
    long double excess;
    std::int64_t i, j;
  };
  std::vector<Miss> misses;
  for (std::int64_t i = 0; i < wanted.rows; ++i)
    for (std::int64_t j = 0; j < wanted.columns; ++j) {
      long double const error = std::abs(extended(actual(i, j)) - wanted.value(i, j));
      if (!(error <= wanted.bound(i, j))) misses.push_back({error - wanted.bound(i, j), i, j});
    }
  if (misses.empty()) return ::testing::AssertionSuccess();
  auto const worse = [](Miss const& a, Miss const& b) {
    return !(a.excess <= b.excess) && b.excess == b.excess;
  };
  std::stable_sort(misses.begin(), misses.end(), worse);
  auto result = ::testing::AssertionFailure() << misses.size() << " entries are off;";
  for (std::size_t m = 0; m < std::min<std::size_t>(3, misses.size()); ++m) {
    auto const [excess, i, j] = misses[m];
    result << " (" << i << ", " << j << "): " << actual(i, j) << " instead of "
           << wanted.value(i, j) << ", allowed " << wanted.bound(i, j) << ";";
  }
  return result;
}

/// Whether two blocks are equal bit for bit (NaN equals the same NaN).
template <class Scalar>
bool same_bits(HostBlock<Scalar> const& A, HostBlock<Scalar> const& B) {
  if (A.rows() != B.rows() || A.columns() != B.columns()) return false;
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t j = 0; j < A.columns(); ++j)
      if (std::memcmp(&A(i, j), &B(i, j), sizeof(Scalar)) != 0) return false;
  return true;
}

}  // namespace blockspan::test
