#pragma once

#include <cstdint>
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
                                   Reference<Scalar> const& wanted);

/// Whether two blocks are equal bit for bit (NaN equals the same NaN).
template <class Scalar>
bool same_bits(HostBlock<Scalar> const& A, HostBlock<Scalar> const& B);

}  // namespace blockspan::test
