#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <blockspan/support/scalar.hpp>

namespace blockspan {

struct RowStatistics;

namespace products {
struct BlockFacts;
struct Cost;
struct CostFacts;
struct DeviceFacts;
struct ExplainedPattern;
struct Lanes;
struct Launch;
enum class LaunchForm;
struct PatternFacts;
struct SegmentStatistics;
struct TileForms;
}  // namespace products

/// The kernels of the library: kernels/list.hpp has them in this order.
enum class SpmmKernelId {
  rows,             ///< whole rows
  single_columns,   ///< whole rows, by single columns
  adaptive,         ///< tiles of many short rows or of a part of a long one
  row_pairs,        ///< whole rows, two a thread
  segments,         ///< long rows in equal segments, whose sums are added in a fixed order
  segments_sorted,  ///< the same in classes of equal length, the longest first
  nonempty_rows,    ///< segments of the rows that have entries; the others are filled
  groups,           ///< neighbouring rows that have the same columns
  windows,          ///< eight neighbouring rows, and the columns that any of them has
  shared_tiles,     ///< tiles of X that a team shares
  clusters,         ///< whole rows, those that share rows of X next to each other
  registered        ///< of another library, which has entered its launch (KernelTable)
};

/// What a plan lists for a kernel: its units of work.
enum class SpmmUnits { rows, segments, tiles, groups, windows };

/// A row of the menu: one kernel in words, its requirements on blocks and plans, when it is
/// available and what it costs. It is defined beside its kernel. Functions that are null have the
/// default stated with them.
struct SpmmVariant {
  std::string_view id;  ///< what SpmmPlanOptions::algorithm asks for
  char const* label;    ///< what Kokkos Tools sees: "Blockspan::spmm::" and the id
  char const* parts;    ///< in words
  char const* source;   ///< author, year, venue
  char const* needs;    ///< requirements on the input, in words; empty: none
  char const* loses;    ///< why it is not chosen where it is not, in words
  SpmmKernelId kernel = SpmmKernelId::registered;
  SpmmUnits units = SpmmUnits::rows;
  char const* component = nullptr;  ///< the library that registered it; null: the core

  bool requires_aligned_x = false;  ///< on devices: rows of X and Y are whole 16-byte vectors
  bool vectorized = false;   ///< a lane (on hosts a thread) owns neighbouring columns where it can
  bool strided_y = false;    ///< on devices: only X has to be whole vectors; Y has any strides
  bool sorted_rows = false;  ///< reads rows whose columns are sorted
  bool by_rows = false;      ///< independent entries: 16-bit distances and panels of columns work
  bool items = false;        ///< a work item has a row or an element of Y: there are no lanes
  bool team_of_one = false;  ///< a team is one thread
  bool clusters_rows = false;     ///< visits rows in an order in which neighbours share columns
  bool reads_slices = false;      ///< on devices: also from the slices that a plan may hold
  std::int64_t most_columns = 0;  ///< of a launch without vectors; 0: any
  bool as_it_is = false;          ///< all columns of any blocks in one launch

  /// Whether the device supports the kernel; null: every device does.
  bool (*is_offered)(support::ScalarKind const&, products::DeviceFacts const&) = nullptr;
  /// The expected time of a product; nothing where the kernel is no candidate. Null: used only on
  /// request.
  std::optional<products::Cost> (*cost)(products::CostFacts const&) = nullptr;
  bool falls_back = false;  ///< where it does not support a block, groups or rows run
  /// Whether it runs these blocks where a plan has chosen it; null: yes.
  bool (*takes)(products::PatternFacts const&, products::BlockFacts const&,
                products::DeviceFacts const&) = nullptr;
  /// Whether it runs these blocks in place of the kernel that a plan has chosen; null: no.
  bool (*replaces)(SpmmVariant const& chosen, products::PatternFacts const&,
                   products::BlockFacts const&, products::DeviceFacts const&) = nullptr;
  /// The form of a launch, of whole vectors or not; null: the usual one.
  products::LaunchForm (*form)(products::PatternFacts const&, products::BlockFacts const&,
                               products::DeviceFacts const&, bool vectorized) = nullptr;
  /// Devices: how its lanes lie over segments and the vectors (or single columns) of a row of X;
  /// null: as of all kernels by rows (plan/lanes.hpp).
  products::Lanes (*lanes)(products::SegmentStatistics const&, std::int64_t vectors) = nullptr;
  /// How it may stage tiles of X, with sorted rows; null: not at all.
  products::TileForms (*tile_forms)(RowStatistics const&, std::int64_t columns,
                                    support::ScalarKind const&,
                                    products::DeviceFacts const&) = nullptr;
  /// Whether a plan lists the masks of its tiles; null: no.
  bool (*reads_masks)(products::CostFacts const&) = nullptr;
  /// Bytes of column indices that a launch reads; null: one for each entry.
  std::int64_t (*bytes_of_indices)(products::PatternFacts const&,
                                   products::Launch const&) = nullptr;
  /// Lines of `explain` about what a plan has listed for it; null: none.
  std::string (*explain)(products::ExplainedPattern const&) = nullptr;

  constexpr bool lists_segments() const { return units == SpmmUnits::segments; }
  constexpr bool lists_tiles() const { return units == SpmmUnits::tiles; }
  constexpr bool lists_groups() const { return units == SpmmUnits::groups; }
  constexpr bool lists_windows() const { return units == SpmmUnits::windows; }
  constexpr bool skips_empty_rows() const { return kernel == SpmmKernelId::nonempty_rows; }
  /// On devices: the elements of a row of X are neighbours.
  constexpr bool needs_contiguous_x() const { return requires_aligned_x || lists_windows(); }
};

/// The menu: each supported kernel once, those of the core first, in an order that does not change;
/// then those that other libraries registered (Blockspan::published, where it is linked). The
/// variant asked for is the variant run, or the call says why not.
std::vector<SpmmVariant const*> const& spmm_variants();

/// The entry of a kernel of the core.
SpmmVariant const& spmm_variant(SpmmKernelId kernel);

/// The entry with this id, or null.
SpmmVariant const* find_spmm_variant(std::string_view id);

/// Enters a kernel of another library, if it is not there yet; `variant` has to live as long as the
/// program. Before the first plan that asks for it, and not while another thread makes plans.
/// Throws Error where another one has its id.
void register_spmm_variant(SpmmVariant const& variant);

/// The menu in one line a variant: id, parts, source.
std::string spmm_menu();

}  // namespace blockspan
