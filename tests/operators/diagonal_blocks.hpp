#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "operators/small_dense.hpp"
#include "spmm/battery.hpp"

namespace blockspan::test {

/// Diagonal blocks of a Hermitian matrix.
template <class Scalar>
using Blocks = std::vector<HostBlock<Scalar>>;

/// n rows in blocks of b, the last one shorter.
template <class Scalar>
Blocks<Scalar> hermitian_blocks(std::int64_t n, int b, int spread = 0, double shift = 0) {
  Random random(17);
  Blocks<Scalar> blocks;
  for (std::int64_t first = 0; first < n; first += b)
    blocks.push_back(
        hermitian_block<Scalar>(std::min<std::int64_t>(b, n - first), random, spread, shift));
  return blocks;
}

/// The matrix with these diagonal blocks. Rows list their columns backwards, every third entry is
/// given as two halves, and three random entries of a row lie outside its block.
template <class Scalar>
HostMatrix<Scalar> matrix_of(Blocks<Scalar> const& blocks) {
  std::int64_t n = 0;
  for (auto const& B : blocks) n += B.rows();
  HostMatrix<Scalar> A{"blocks", n, n, {0}, {}, {}};
  Random random(3);
  std::int64_t first = 0;
  for (auto const& B : blocks) {
    for (std::int64_t i = 0; i < B.rows(); ++i) {
      for (int k = 0; k < 3; ++k) {
        auto const column = random.below(n);
        if (column < first || column >= first + B.rows()) A.add(column, random.value<Scalar>());
      }
      for (std::int64_t j = B.rows() - 1; j >= 0; --j) {
        if (B(i, j) == Scalar(0)) continue;
        bool const halves = (i + j) % 3 == 0;
        A.add(first + j, halves ? B(i, j) * real_t<Scalar>(0.5) : B(i, j));
        if (halves) A.add(first + j, B(i, j) * real_t<Scalar>(0.5));
      }
      A.end_row();
    }
    first += B.rows();
  }
  return A;
}

}  // namespace blockspan::test
