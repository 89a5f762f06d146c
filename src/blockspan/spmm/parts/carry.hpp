#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/parts/load.hpp>

namespace blockspan::products {

/// The sums of a cut row's segments, one slot a segment, the slots of a row next to each other in
/// their order. The arrays belong to the plan, the last two to the instance of a product.
///
/// The segment that comes last adds up all of its row. Which one that is varies; the order of the
/// slots does not, and so neither do the bits of the sum. It saves a second launch, which costs
/// more than the product of a small matrix. The counters are atomic, the sums are not.
template <class Scalar, class Ordinal>
struct Carry {
  static constexpr int depth = 4;  ///< sums in flight when they are added up

  Ordinal const* cut_row;  ///< which rows were cut
  Ordinal const*
      cut_slot;  ///< rows cut + 1: slots of the i-th are cut_slot[i] .. cut_slot[i + 1] - 1
  Ordinal const* slot_row;  ///< slots: which of the cut rows
  std::int64_t columns;     ///< of Y
  Scalar* carry;            ///< slots x columns, row-major
  int* arrived;             ///< rows cut x columns: segments that have come; zero before and after

  /// Stores the sum of a segment; the last segment of the i-th cut row calls finish(i, row, column,
  /// sum).
  template <class Segment, int Width, class Finish>
  KOKKOS_FORCEINLINE_FUNCTION void keep(Segment const& segment, std::int64_t column,
                                        Sum<Scalar, Width> const& sum, Finish const& finish) const {
    std::int64_t const slot = segment.slot();
    for (int j = 0; j < Width; ++j) carry[slot * columns + column + j] = sum.value[j];
    auto const i = static_cast<std::int64_t>(slot_row[slot]);
    auto const first = static_cast<std::int64_t>(cut_slot[i]);
    auto const last = static_cast<std::int64_t>(cut_slot[i + 1]);
    int* const counter = arrived + i * columns + column;
    // Release: its sum is visible before this segment is counted. A fence would do as well, but on
    // CUDA it invalidates the first-level cache, whose rows of X other threads use too.
    int const others = desul::atomic_fetch_add(counter, 1, desul::MemoryOrderRelease(),
                                               desul::MemoryScopeDevice());
    if (others + 1 < static_cast<int>(last - first)) return;
    Kokkos::memory_fence();  // the others' sums are read after they were counted
    *counter = 0;
    Sum<Scalar, Width> total{};
    std::int64_t s = first;
    for (; last - s >= depth; s += depth) {  // in order, with several loads in flight
      Sum<Scalar, Width> parts[depth];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u)
        for (int j = 0; j < Width; ++j) parts[u].value[j] = carry[(s + u) * columns + column + j];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u)
        for (int j = 0; j < Width; ++j) total.value[j] += parts[u].value[j];
    }
    for (; s < last; ++s)
      for (int j = 0; j < Width; ++j) total.value[j] += carry[s * columns + column + j];
    finish(i, static_cast<std::int64_t>(cut_row[i]), column, total);
  }
};

}  // namespace blockspan::products
