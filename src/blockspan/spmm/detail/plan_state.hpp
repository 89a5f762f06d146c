#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/blas_handles.hpp>
#include <blockspan/spmm/detail/matrix_ref.hpp>
#include <blockspan/spmm/detail/partition/pattern.hpp>
#include <blockspan/spmm/detail/scratch_pool.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan::detail {

/// Which variant runs, with which cuts, and why: decided from the statistics alone, so the same
/// pattern gives the same bits on any number of threads.
struct SpmmChoice {
  SpmmVariant const* variant;
  std::int64_t piece;  ///< rows longer than this are cut; 0: none is
  std::string reason;
  std::string rejected;
};

/// A pattern ready to multiply.
template <class Exec, class Offset, class Ordinal>
struct PreparedPattern {
  PatternRef<Offset, Ordinal> pattern{};
  Offset const* permutation = nullptr;  ///< of the values; null: none
  RowStatistics statistics;
  SpmmChoice choice{};
  PieceList<Exec, Offset, Ordinal> list;            ///< where the variant lists pieces
  TileList<Exec, Offset, Ordinal> tiles;            ///< where it lists tiles
  TransposedPattern<Exec, Offset, Ordinal> sorted;  ///< where it needs sorted rows and has none
  SpmmLanes lanes;                                  ///< asked for

  /// Parts of cut rows, whose sums need a place.
  std::int64_t slots() const { return list.slots + tiles.slots; }

  /// Units of work of a product.
  std::int64_t pieces() const {
    return choice.variant->lists_pieces() ? list.pieces : pattern.rows;
  }
  /// Nonzeros of a piece that is not empty.
  double mean_piece() const {
    std::int64_t const empty =
        choice.variant->skips_empty_rows() ? 0 : std::min(statistics.empty_rows, pieces());
    return static_cast<double>(statistics.nonzeros) /
           static_cast<double>(std::max<std::int64_t>(1, pieces() - empty));
  }
};

template <class Exec, class Offset, class Ordinal>
struct TransposedState {
  TransposedPattern<Exec, Offset, Ordinal> pattern;
  PreparedPattern<Exec, Offset, Ordinal> prepared;
};

/// What a plan knows. Products change nothing but the parts marked below, each behind its own lock,
/// so one plan serves several instances at once.
template <class Exec, class Offset, class Ordinal>
struct PlanState {
  SpmmPlanOptions options;
  PatternRef<Offset, Ordinal> given{};  ///< the pattern that the plan was made for
  PreparedPattern<Exec, Offset, Ordinal> plain;
  std::uint64_t fingerprint = 0;
  std::shared_ptr<void const> owner;  ///< keeps the pattern's arrays alive

  // grow on demand
  ScratchPool<Exec> carry;   ///< sums of cut rows
  ScratchPool<Exec> packed;  ///< X made row-major
  ScratchPool<Exec> dense;   ///< A written out
  BlasHandles<Exec> blas;
  ScratchPool<Exec> dots;    ///< partial sums of spmm_dots
  std::mutex transposing;
  std::optional<TransposedState<Exec, Offset, Ordinal>> transposed;
};

/// Inspects the pattern and prepares the variant. Waits for the instance.
template <class Exec, class Offset, class Ordinal>
std::shared_ptr<PlanState<Exec, Offset, Ordinal>> make_plan_state(
    Exec const& exec, PatternRef<Offset, Ordinal> const& A, SpmmPlanOptions const& options,
    std::shared_ptr<void const> owner);

/// The prepared transpose; the first call builds it and waits for the instance.
template <class Exec, class Offset, class Ordinal>
PreparedPattern<Exec, Offset, Ordinal> const& transposed_of(Exec const& exec,
                                                            PlanState<Exec, Offset, Ordinal>& plan);

template <class Exec, class Offset, class Ordinal>
std::string explain_plan(PlanState<Exec, Offset, Ordinal>& plan, int columns,
                         std::size_t scalar_bytes);

/// Label of the kernel that multiplies a contiguous, aligned block of `columns` columns.
template <class Exec>
char const* kernel_label(SpmmVariant const& variant, std::int64_t columns,
                         std::size_t scalar_bytes) {
  bool const fits =
      runs_on_host_v<Exec> || columns * static_cast<std::int64_t>(scalar_bytes) % 16 == 0;
  return variant.needs_whole_packs && !fits ? find_spmm_variant("warp_per_row")->label
                                            : variant.label;
}

}  // namespace blockspan::detail
