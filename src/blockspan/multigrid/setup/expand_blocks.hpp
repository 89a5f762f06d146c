#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multigrid/setup/arrays.hpp>

namespace blockspan::levels {

template <class Scalar, class Exec>
struct ScalarRows {
  Integers<Exec> offsets, indices;
  Array<Scalar, Exec> values;
};

/// Expands row i of the scalar matrix from the block matrix.
template <class Matrix, class Target>
struct ExpandBlocks {
  Matrix from;
  Target to;
  int b;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int const block_row = static_cast<int>(i) / b, r = static_cast<int>(i) % b;
    auto const first = from.graph.row_map(block_row), last = from.graph.row_map(block_row + 1);
    std::int64_t const length = static_cast<std::int64_t>(last - first) * b;
    std::int64_t place = static_cast<std::int64_t>(first) * b * b + r * length;
    to.offsets(i) = static_cast<int>(place);
    if (i + 1 == static_cast<std::int64_t>(to.offsets.extent(0)) - 1)
      to.offsets(i + 1) = static_cast<int>(place + length);
    for (auto k = first; k < last; ++k)
      for (int c = 0; c < b; ++c, ++place) {
        to.indices(place) = static_cast<int>(from.graph.entries(k)) * b + c;
        to.values(place) = from.values((static_cast<std::int64_t>(k) * b + r) * b + c);
      }
  }
};

/// A BsrMatrix as a CrsMatrix of scalars. Fences the instance.
template <class Exec, class Matrix>
CrsMatrix<scalar_t<Matrix>, Exec> expand_blocks(Exec const& exec, Matrix const& A) {
  using Scalar = scalar_t<Matrix>;
  int const b = static_cast<int>(A.blockDim()), rows = static_cast<int>(A.numRows()) * b;
  auto const entries = static_cast<std::int64_t>(A.graph.entries.extent(0)) * b * b;
  constexpr auto label = "Blockspan::multigrid";
  ScalarRows<Scalar, Exec> const to{allocate<Integers<Exec>>(exec, label, rows + 1),
                                    allocate<Integers<Exec>>(exec, label, entries),
                                    allocate<Array<Scalar, Exec>>(exec, label, entries)};
  Kokkos::deep_copy(exec, to.offsets, 0);
  each(exec, "Blockspan::multigrid_expand", rows,
       ExpandBlocks<Matrix, ScalarRows<Scalar, Exec>>{A, to, b});
  exec.fence("Blockspan::multigrid_expand");
  return CrsMatrix<Scalar, Exec>(label, rows, static_cast<int>(A.numCols()) * b,
                                 static_cast<int>(entries), to.values, to.offsets, to.indices);
}

}  // namespace blockspan::levels
