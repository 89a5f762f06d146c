#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {

/// The rows of a block row are in as few groups as can be ...
inline std::int64_t groups_of_block(std::int64_t block) {
  return ceil_div(block, std::int64_t{tuning::group_rows});
}

/// ... of about the same size. `entries`: blocks.
template <class Exec, class Ordinal>
RowGroupList<Exec, Ordinal> groups_of_blocks(PatternRef<int, Ordinal> const& A,
                                             std::int64_t entries) {
  std::int64_t const groups = groups_of_block(A.block);
  return {static_cast<int>(ceil_div(A.block, groups)),
          {A.rows * groups, entries * A.block * groups},
          {}};
}

/// What statistics of blocks say about the matrix's own rows.
inline RowStatistics statistics_of_blocks(RowStatistics rows, std::int64_t block) {
  for (auto* const count :
       {&rows.rows, &rows.columns, &rows.empty_rows, &rows.shortest, &rows.longest})
    *count *= block;
  rows.nonzeros *= block * block;
  rows.group_work *= block * block;
  return rows;
}

/// A pattern ready to multiply.
template <class Exec, class Ordinal>
struct PreparedPattern {
  PatternRef<int, Ordinal> pattern{};
  int const* permutation = nullptr;  ///< of the values; null: none
  RowStatistics statistics;
  std::int64_t half_bandwidth = 0;  ///< as PatternSummary has it
  SpmmChoice choice{};
  SegmentList<Exec, Ordinal> list;          ///< where the variant lists segments
  TileList<Exec, Ordinal> tiles;            ///< where it lists tiles
  RowGroupList<Exec, Ordinal> groups;       ///< where it lists groups, or for its fallback
  RowWindowList<Exec, Ordinal> windows;     ///< where it lists windows
  TileMasks<Exec> masks;                    ///< where windows share tiles of X
  TransposedPattern<Exec, Ordinal> sorted;  ///< where it needs sorted rows and has none
  ColumnDistances<Exec> distances;          ///< where they fit; may be empty
  SpmmLanes lanes;                          ///< asked for
  SharedColumns neighbours;                 ///< as PatternFacts has it
  std::shared_ptr<DecisionMemo> memo = std::make_shared<DecisionMemo>();

  /// What it was prepared for.
  DeviceFacts const* device = &device_facts_v<Exec>;

  /// The rows that were cut for this variant.
  CutRowList<Exec, Ordinal> const& cuts(SpmmVariant const& variant) const {
    return variant.lists_tiles() ? static_cast<CutRowList<Exec, Ordinal> const&>(tiles) : list;
  }

  /// Units of work of a product by the variant chosen or its fallback.
  std::int64_t segments(SpmmVariant const& variant) const {
    if (variant.lists_groups()) return groups.count.groups;
    return variant.lists_segments() ? list.segments : pattern.rows;
  }

  /// The inputs of decisions about its products.
  PatternFacts facts() const {
    return {statistics,
            half_bandwidth,
            pattern.block,
            groups.count,
            groups.begin.extent(0) > 0,
            windows.count,
            static_cast<std::int64_t>(masks.extent(0)),
            list.segments,
            list.slots,
            tiles.tiles,
            !distances.empty(),
            permutation != nullptr,
            lanes,
            neighbours,
            sizeof(Ordinal)};
  }

  /// How a product with such blocks runs. Decided once.
  Decision const& decision_for(BlockFacts const& blocks) const {
    return memo->find(blocks, [&] { return decide(facts(), choice, blocks, *device); });
  }
};

/// How a product with blocks of `columns` columns runs whose rows are as wide as that, and aligned;
/// or with blocks of another layout. Scalars of at least 8 bytes count as double precision.
/// `layout` comes by value: g++ 13 warns that the reference returned is to a temporary argument.
template <class Exec, class Ordinal>
Decision const& decision_at(PreparedPattern<Exec, Ordinal> const& prepared, std::int64_t columns,
                            std::size_t scalar_bytes, std::optional<BlockLayout> layout = {}) {
  bool const vectors =
      columns * static_cast<std::int64_t>(scalar_bytes) % tuning::device_vector_bytes == 0;
  BlockLayout const row_major{true, columns == 1, vectors, vectors};
  return prepared.decision_for({.columns = columns,
                                .scalar = scalar_of_bytes(scalar_bytes),
                                .x = layout.value_or(row_major),
                                .y = layout.value_or(row_major)});
}

}  // namespace blockspan::products
