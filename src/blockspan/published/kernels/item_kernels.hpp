#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::published {

/// The naive baselines, as a RangePolicy functor: a work item is a row, traversed once per column,
/// or one element of Y. No lanes, no teams, no sharing.
template <class Exec, class Scalar, class Entries, class Epilogue>
struct ItemKernel {
  struct Row {};
  struct Element {};

  int const* row_offsets;  ///< rows + 1
  Entries entries;
  BlockRef<Scalar const> X;
  bool conjugate_values;
  Epilogue epilogue;

  KOKKOS_FORCEINLINE_FUNCTION void element(std::int64_t row, std::int64_t column) const {
    Sum<Scalar, 1> sum{};
    RowSegment const segment{row, row_offsets[row], row_offsets[row + 1]};
    auto const& own = entries_of(entries, segment);
    for (int k = segment.first; k < segment.last; ++k) {
      Scalar const a = conjugate_if(conjugate_values, own.value(k));
      sum.value[0] += a * X(static_cast<std::int64_t>(own.column(k)), column);
    }
    epilogue(row, column, sum);
  }
  KOKKOS_FUNCTION void operator()(Row, std::int64_t row) const {
    for (std::int64_t column = 0; column < X.columns; ++column) element(row, column);
  }
  KOKKOS_FUNCTION void operator()(Element, std::int64_t item) const {
    element(item / X.columns, item % X.columns);
  }

  template <class Item>
  void launch(Exec const& exec, char const* label, std::int64_t items) const {
    Kokkos::parallel_for(label, IndexRange<Exec, Item>(exec, 0, items), *this);
  }
};

}  // namespace blockspan::published
