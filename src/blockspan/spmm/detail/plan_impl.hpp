#pragma once

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/partition/choose.hpp>
#include <blockspan/spmm/detail/partition/cut_impl.hpp>
#include <blockspan/spmm/detail/partition/distances_impl.hpp>
#include <blockspan/spmm/detail/partition/group_impl.hpp>
#include <blockspan/spmm/detail/partition/summary_impl.hpp>
#include <blockspan/spmm/detail/partition/tile_impl.hpp>
#include <blockspan/spmm/detail/partition/transpose_impl.hpp>
#include <blockspan/spmm/detail/partition/window_impl.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>

namespace blockspan::detail {

/// The tiles of the variant chosen, of at most options.piece_length entries if that is given.
template <class Exec, class Offset, class Ordinal>
TileList<Exec, Offset, Ordinal> tiles_for(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
                                          RowStatistics const& rows, SpmmVariant const& variant,
                                          std::int64_t asked) {
  auto const at_most = [&](std::int64_t usual) {
    return asked > 0 && asked < usual ? asked : usual;
  };
  if (variant.partition == SpmmPartition::row_classes) {
    std::int64_t const stream = at_most(tuning::team_stream);
    return cut_row_classes(exec, A, stream, std::max(stream, at_most(tuning::team_longest)));
  }
  std::int64_t const usual = variant.worker == SpmmWorker::whole_team ? tuning::team_scan
                             : runs_on_host_v<Exec>                   ? tuning::host_thread_tile
                                                                      : tuning::device_thread_tile;
  return cut_equal_tiles(exec, A, rows.nonzeros, variant.partition, at_most(usual));
}

/// The groups of rows, where they are asked for; else their numbers, where they come into question,
/// and the list only where it may serve.
template <class Exec, class Offset, class Ordinal>
RowGroupList<Exec, Ordinal> groups_for(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
                                       PatternSummary const& summary,
                                       SpmmPlanOptions const& options) {
  if (options.algorithm != "auto")
    return find_spmm_variant(options.algorithm)->lists_groups()
               ? find_row_groups(exec, A, INT64_MAX)
               : RowGroupList<Exec, Ordinal>{};
  auto const& rows = summary.rows;
  if (!runs_on_host_v<Exec> && rows.rows < tuning::device_group_least_rows) return {};
  std::int64_t const most = most_fetches_of_groups(rows);
  if (rows.nonzeros - summary.alike > most) return {};
  return find_row_groups(exec, A, most);
}

/// Blocks have one variant, and the groups that it needs.
template <class Exec, class Offset, class Ordinal>
PreparedPattern<Exec, Offset, Ordinal> prepare_blocks(PatternRef<Offset, Ordinal> const& A,
                                                      PatternSummary const& summary,
                                                      SpmmPlanOptions const& options) {
  auto const& variant = *find_spmm_variant("row_group");
  require(options.algorithm == "auto" || options.algorithm == variant.id, "blockspan::SpmmPlan",
          options.algorithm, " takes no blocks (", A.block, " x ", A.block, "): ", variant.id,
          " does");
  PreparedPattern<Exec, Offset, Ordinal> result;
  auto const& blocks = summary.rows;
  result.pattern = A;
  result.statistics = statistics_of_blocks(blocks, A.block);
  result.reach = summary.reach * A.block;
  require(result.statistics.longest < tuning::longest_block_row, "blockspan::SpmmPlan",
          "a row of blocks has ", result.statistics.longest, " entries in each of its rows");
  result.groups = groups_of_blocks<Exec>(A, blocks.nonzeros);
  result.lanes = options.lanes;
  auto const size = std::to_string(A.block);
  result.choice = {&variant,
                   0,
                   "the matrix is stored in blocks of " + size + " x " + size,
                   "all others: they take no blocks",
                   {}};
  return result;
}

/// What the model needs to know of variants that only sorted rows have.
struct SortedCandidates {
  WindowCount windows;        ///< without tiles where windows do not come into question
  bool shared_tiles = false;  ///< of X, as in rows_share_tiles
};

template <class Exec, class Offset, class Ordinal>
SortedCandidates find_sorted_candidates(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
                                        PatternSummary const& summary,
                                        SpmmPlanOptions const& options, ScalarKind const& scalar) {
  if (options.algorithm != "auto" || !summary.sorted) return {};
  auto const& rows = summary.rows;
  bool const windows = tensor::available<Exec, double> && scalar.is_double &&
                       may_take_windows(rows, options.columns);
  std::int64_t const row_bytes = options.columns * static_cast<std::int64_t>(scalar.bytes);
  bool const tiles = row_bytes % tuning::device_pack_bytes == 0 &&
                     rows_share_tiles<Exec>(rows, row_bytes, scalar.bytes);
  SortedCandidates found{windows ? estimate_row_windows(exec, A) : WindowCount{}, tiles};
  double const share = options.columns <= tuning::window_few_columns
                           ? tuning::window_least_share_of_few
                           : tuning::window_least_share;
  if (!windows_are_worth_it(rows, found.windows, share)) found.windows = {};
  return found;
}

/// in_order: the values stand as the columns do. Where they are looked up, windows and staged tiles
/// are taken only if asked for: they have a kernel for one width there, or a slow one.
template <class Exec, class Offset, class Ordinal>
PreparedPattern<Exec, Offset, Ordinal> prepare(Exec const& exec,
                                               PatternRef<Offset, Ordinal> const& A,
                                               PatternSummary const& summary,
                                               SpmmPlanOptions const& options,
                                               ScalarKind const& scalar, bool in_order) {
  PreparedPattern<Exec, Offset, Ordinal> result;
  if (A.block > 1) return prepare_blocks<Exec>(A, summary, options);
  result.pattern = A;
  result.statistics = summary.rows;
  result.reach = summary.reach;
  result.groups = groups_for(exec, A, summary, options);
  auto const candidates =
      in_order ? find_sorted_candidates(exec, A, summary, options, scalar) : SortedCandidates{};
  result.choice = choose_variant<Exec>(result.statistics, result.groups.count, candidates.windows,
                                       candidates.shared_tiles, options, scalar);
  result.lanes = options.lanes;
  auto const& variant = *result.choice.variant;
  require(is_offered<Exec, double>(variant), "blockspan::SpmmPlan", variant.id,
          " is not offered by ", Exec::name(), ": it needs ", variant.needs);
  bool const stand_by =
      variant.lists_windows() && groups_are_worth_it(result.statistics, result.groups.count);
  if (!variant.lists_groups() && !stand_by) result.groups.begin = {};
  if (variant.lists_pieces())
    result.list = cut_long_rows(exec, A,
                                {result.choice.piece, variant.skips_empty_rows(),
                                 variant.partition == SpmmPartition::sorted_segments});
  if (variant.lists_tiles())
    result.tiles = tiles_for(exec, A, result.statistics, variant, options.piece_length);
  if (!runs_on_host_v<Exec> && variant.is_direct() && !variant.lists_pieces() &&
      result.statistics.nonzeros >= tuning::device_narrow_entries)
    result.distances = column_distances(exec, A, summary);
  require(runs_on_host_v<Exec> || result.statistics.longest <= std::int64_t{UINT32_MAX},
          "blockspan::SpmmPlan", "a row has ", result.statistics.longest,
          " entries, more than a device kernel can count");
  if (variant.needs_sorted_rows() && !summary.sorted) {
    result.sorted = sort_rows(exec, A, result.statistics.nonzeros);
    result.pattern = result.sorted.ref();
    result.permutation = result.sorted.permutation.data();
  }
  if (variant.lists_windows()) result.windows = find_row_windows(exec, result.pattern);
  return result;
}

template <class Exec, class Offset, class Ordinal>
std::shared_ptr<PlanState<Exec, Offset, Ordinal>> make_plan_state(
    Exec const& exec, PatternRef<Offset, Ordinal> const& A, SpmmPlanOptions const& options,
    ScalarKind const& scalar, std::shared_ptr<void const> owner) {
  check_blocks("blockspan::SpmmPlan", A);
  auto state = std::make_shared<PlanState<Exec, Offset, Ordinal>>();
  state->options = options;
  state->scalar = scalar;
  state->owner = std::move(owner);
  state->given = A;
  auto const summary = summarize(exec, A);
  state->plain = prepare(exec, A, summary, options, scalar, true);
  state->fingerprint = summary.fingerprint;
  return state;
}

template <class Exec, class Offset, class Ordinal>
PreparedPattern<Exec, Offset, Ordinal> const& transposed_of(
    Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan) {
  std::lock_guard const lock(plan.transposing);
  if (!plan.transposed) {
    TransposedState<Exec, Offset, Ordinal> state;
    auto const& given = plan.given;
    state.pattern = transpose_pattern(exec, given,
                                      plan.plain.statistics.nonzeros / (given.block * given.block));
    auto pattern = state.pattern.ref();
    pattern.block = given.block;
    state.prepared =
        prepare(exec, pattern, summarize(exec, pattern), plan.options, plan.scalar, false);
    state.prepared.permutation = state.pattern.permutation.data();
    plan.transposed = std::move(state);
  }
  return plan.transposed->prepared;
}

template <class Exec, class Offset, class Ordinal>
PreparedPattern<Exec, Offset, Ordinal> prepare_in_order(
    Exec const& exec, PlanState<Exec, Offset, Ordinal> const& plan,
    PatternRef<Offset, Ordinal> const& pattern) {
  return prepare(exec, pattern, summarize(exec, pattern), plan.options, plan.scalar, true);
}

inline std::string best_three(std::vector<SpmmPrediction> const& predictions) {
  std::ostringstream out;
  out << std::setprecision(3);
  for (std::size_t i = 0; i < predictions.size() && i < 3; ++i)
    out << (i > 0 ? ", " : "") << predictions[i].variant->id << ' ' << predictions[i].microseconds
        << " us";
  out << " (by the model, at the plan's width)";
  return out.str();
}

/// How column-major blocks are served.
inline char const* in_words(BlockAccess access) {
  switch (access) {
    case BlockAccess::by_columns:
      return "column-major blocks run as warp_per_row, with a lane a row";
    case BlockAccess::row_major_copies:
      return "column-major blocks go by way of row-major copies";
    default:
      return "column-major blocks are read number by number";
  }
}

/// The products that a block of so many columns takes, if several.
template <class Exec, class Offset, class Ordinal>
std::string panels_in_words(PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                            SpmmVariant const& variant, std::int64_t columns,
                            std::size_t scalar_bytes) {
  bool const packs =
      variant.takes_packs &&
      columns * static_cast<std::int64_t>(scalar_bytes) % tuning::device_pack_bytes == 0;
  std::ostringstream out;
  for (std::int64_t first = 0, width = 0; first < columns; first += width) {
    width = prepared.panel(variant, columns - first, scalar_bytes, packs);
    if (width == columns) return {};
    out << (first == 0 ? "  in products of " : ", ") << width;
  }
  out << " columns, for the sake of caches and lanes\n";
  return out.str();
}

template <class Exec, class Offset, class Ordinal>
void explain_pattern(std::ostream& out, char const* what,
                     PreparedPattern<Exec, Offset, Ordinal> const& prepared, int columns,
                     std::size_t scalar_bytes) {
  auto const& rows = prepared.statistics;
  auto const& choice = prepared.choice;
  auto const& variant = variant_at(prepared, columns, scalar_bytes);
  out << what << ": " << rows.rows << " x " << rows.columns << ", " << rows.nonzeros
      << " nonzeros, rows of " << rows.shortest << " to " << rows.longest << ", mean "
      << rows.mean() << ", " << rows.empty_rows << " empty\n  runs " << variant.label << " at "
      << columns << (columns == 1 ? " column: " : " columns: ") << choice.variant->parts
      << "\n  because " << choice.reason << '\n'
      << panels_in_words(prepared, variant, columns, scalar_bytes);
  if (!choice.predictions.empty()) out << "  expected " << best_three(choice.predictions) << '\n';
  out << "  rejected " << choice.rejected << '\n';
  if (choice.variant->lists_pieces())
    out << "  " << prepared.list.cut_rows << " rows are cut into " << prepared.list.slots
        << " pieces of at most " << choice.piece << " nonzeros\n";
  std::int64_t const groups = prepared.groups.count.groups;
  if (choice.variant->lists_groups() || (groups > 0 && groups < rows.rows))
    out << "  rows with the same columns make " << groups << " groups of "
        << static_cast<double>(rows.rows) / static_cast<double>(groups)
        << " rows on average, at most " << prepared.groups.most << '\n';
  if (choice.variant->lists_tiles())
    out << "  " << prepared.tiles.tiles << " tiles cut " << prepared.tiles.cut_rows << " rows into "
        << prepared.tiles.slots << " parts\n";
  if (choice.variant->lists_windows()) {
    auto const& windows = prepared.windows.count;
    double const places =
        static_cast<double>(windows.tiles) * tuning::window_rows * tuning::window_columns;
    out << "  " << windows.windows << " windows of " << tuning::window_rows << " rows have "
        << windows.tiles << " tiles of " << tuning::window_columns << " columns, "
        << 100 * static_cast<double>(rows.nonzeros) / std::max(1.0, places)
        << " % full\n  scalars in single precision run as " << prepared.stand_in().label
        << "; sums of products are a pass of their own\n";
  }
  if (choice.variant->stages_tiles() && !choice.asked)
    out << "  rows of X shorter than " << tuning::shared_tile_packs * tuning::device_pack_bytes
        << " bytes run as " << prepared.stand_in().label
        << "; sums of products are a pass of their own\n";
  if (choice.variant->needs_contiguous_x() && !runs_on_host_v<Exec>)
    out << "  blocks without "
        << (choice.variant->needs_whole_packs ? "16-byte aligned, contiguous rows of whole packs"
                                              : "contiguous rows of X")
        << " run as " << variant_that_runs(prepared, {false, false, false}, true, columns).label
        << '\n';
  if (columns > 1 && !runs_on_host_v<Exec>) {
    out << "  "
        << in_words(column_major_access(rows, choice, prepared.groups.count, prepared.windows.count,
                                        columns, scalar_bytes, prepared.stands_in_order()))
        << '\n';
  }
}

/// Whether plain products of such scalars read values in single precision, by the variant that runs
/// (SpmmPlan::hold_single_precision).
template <class Exec, class Offset, class Ordinal>
bool reads_singles(PlanState<Exec, Offset, Ordinal> const& plan, SpmmVariant const& variant,
                   std::size_t scalar_bytes) {
  auto const values = static_cast<std::size_t>(plan.plain.statistics.nonzeros);
  bool const are_of_them = 2 * plan.held.singles.bytes() == values * scalar_bytes && values > 0;
  return are_of_them && plan.plain.permutation == nullptr &&
         (variant.is_direct() || variant.lists_groups() || variant.lists_windows());
}

/// What a product has to read and write: the matrix as the variant that runs reads it, X and Y.
template <class Exec, class Offset, class Ordinal>
std::string bytes_in_words(PlanState<Exec, Offset, Ordinal> const& plan, int columns,
                           std::size_t scalar_bytes) {
  auto const& prepared = plan.plain;
  auto const& rows = prepared.statistics;
  auto const times = [](std::int64_t count, std::size_t each) {
    return count * static_cast<std::int64_t>(each);
  };
  auto const& variant = variant_at(prepared, columns, scalar_bytes);
  bool const singles = reads_singles(plan, variant, scalar_bytes);
  bool const narrow = prepared.reads_distances(times(columns, scalar_bytes));
  auto const& windows = prepared.windows.count;
  std::int64_t const indices =
      variant.lists_groups()
          ? times(prepared.groups.count.fetches / prepared.pattern.block, sizeof(Ordinal))
      : variant.lists_windows()
          ? times(windows.tiles, tuning::window_columns * sizeof(std::uint16_t) + sizeof(Ordinal)) +
                times(windows.tiles * tuning::window_rows, sizeof(std::uint16_t))
          : times(rows.nonzeros, narrow ? sizeof(std::int16_t) : sizeof(Ordinal));
  std::ostringstream out;
  out << "a product reads at least "
      << times(rows.nonzeros, singles ? scalar_bytes / 2 : scalar_bytes) + indices +
             times(prepared.pattern.rows + 1, sizeof(Offset))
      << " bytes of A" << (narrow ? ", its columns in 16 bits" : "") << "; X and Y have "
      << times((rows.rows + rows.columns) * columns, scalar_bytes) << '\n';
  if (singles)
    out << "  reads values in single precision, " << plan.held.singles.bytes() << " bytes\n";
  return out.str();
}

/// What another order of the rows and columns would bring; nothing where these are near each other,
/// or X so small that it does not matter.
template <class Exec, class Offset, class Ordinal>
std::string order_in_words(PatternRef<Offset, Ordinal> const& A, RowStatistics const& rows,
                           int columns, std::size_t scalar_bytes) {
  std::int64_t const bytes = A.rows * columns * static_cast<std::int64_t>(scalar_bytes);
  if (A.rows != A.columns || A.block > 1 || bytes < tuning::order_least_bytes) return {};
  double const far = share_of_far_columns(Exec{}, A);
  if (far < tuning::order_least_far) return {};
  std::ostringstream out;
  out << std::setprecision(2) << "  " << 100 * far
      << " % of the columns lie far from their row: an order that brings them near (reorder), if "
         "their graph has one, keeps rows of X in the caches";
  if (!runs_on_host_v<Exec>)
    out << "; a product would take "
        << DeviceModel(rows, columns_of_doubles(columns, scalar_bytes)).near_over_far(far)
        << " of the time at best (by the model)";
  out << '\n';
  return out.str();
}

template <class Exec, class Offset, class Ordinal>
std::string explain_plan(PlanState<Exec, Offset, Ordinal>& plan, int columns,
                         std::size_t scalar_bytes) {
  std::ostringstream out;
  explain_pattern(out, "A", plan.plain, columns, scalar_bytes);
  auto const& held = plan.held;
  out << "  " << bytes_in_words(plan, columns, scalar_bytes)
      << order_in_words<Exec>(plan.given, plan.plain.statistics, columns, scalar_bytes);
  if (held.symmetry != Symmetry::none)
    out << "transpose of A: none is needed, the values held are those of a "
        << (held.symmetry == Symmetry::symmetric ? "symmetric" : "Hermitian") << " matrix\n";
  std::lock_guard const lock(plan.transposing);
  if (plan.transposed) {
    explain_pattern(out, "transpose of A", plan.transposed->prepared, columns, scalar_bytes);
    if (held.has_transpose)
      out << "  reads values held in its order, " << held.transposed.bytes() << " bytes\n";
  }
  return out.str();
}

}  // namespace blockspan::detail
