#pragma once

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/spmm/detail/partition/distances_impl.hpp>
#include <blockspan/spmm/detail/row_panels.hpp>
#include <blockspan/spmm/plan/predict.hpp>

namespace blockspan::detail {

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
inline char const* column_major_in_words(Decision const& decision) {
  auto const kernel = decision.first().kernel;
  if (kernel == SpmmKernelKind::row_columns || kernel == SpmmKernelKind::staged_columns)
    return "column-major blocks run as warp_per_row, with a lane a row";
  if (decision.x == BlockCopy::whole_packs || decision.y_by_copy)
    return "column-major blocks go by way of row-major copies";
  return "column-major blocks are read number by number";
}

/// The launches that a block takes, if several.
inline std::string panels_in_words(Decision const& decision) {
  if (decision.launches.size() == 1) return {};
  std::ostringstream out;
  for (auto const& launch : decision.launches)
    out << (&launch == &decision.first() ? "  in products of " : ", ") << launch.columns;
  out << " columns, for the sake of caches and lanes\n";
  return out.str();
}

template <class Exec, class Offset, class Ordinal>
void explain_pattern(std::ostream& out, char const* what,
                     PreparedPattern<Exec, Offset, Ordinal> const& prepared, int columns,
                     std::size_t scalar_bytes) {
  auto const& rows = prepared.statistics;
  auto const& choice = prepared.choice;
  auto const& decision = decision_at(prepared, columns, scalar_bytes);
  auto const& variant = *decision.first().variant;
  auto const facts = prepared.facts();
  out << what << ": " << rows.rows << " x " << rows.columns << ", " << rows.nonzeros
      << " nonzeros, rows of " << rows.shortest << " to " << rows.longest << ", mean "
      << rows.mean() << ", " << rows.empty_rows << " empty\n  runs " << variant.label << " at "
      << columns << (columns == 1 ? " column: " : " columns: ") << choice.variant->parts
      << "\n  because " << choice.reason << '\n'
      << panels_in_words(decision);
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
        << " % full\n  scalars in single precision run as " << fallback_of(facts, choice).label
        << (windows_are_worth_it(rows, windows) ? "; sums of products are a pass of their own\n"
                                                : ", and so do sums of products\n");
  }
  if (prepared.masks.extent(0) > 0)
    out << "  windows of 8 rows, " << tuning::shared_window_rows / 8
        << " of them a team, share tiles of X on tensor cores; bits say which places are full\n";
  if (choice.variant->stages_tiles() && !choice.asked)
    out << "  rows of X shorter than " << tuning::shared_tile_packs * tuning::device_pack_bytes
        << " bytes run as " << fallback_of(facts, choice).label
        << "; sums of products are a pass of their own\n";
  if (choice.variant->needs_contiguous_x() && !runs_on_host_v<Exec>)
    out << "  blocks without "
        << (choice.variant->needs_whole_packs ? "16-byte aligned, contiguous rows of whole packs"
                                              : "contiguous rows of X")
        << " run as " << without_packs(fallback_of(facts, choice)).label << '\n';
  if (columns > 1 && !runs_on_host_v<Exec>) {
    out << "  "
        << column_major_in_words(
               decision_at(prepared, columns, scalar_bytes, BlockLayout{false, true, false, false}))
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
  auto const& rows = plan.plain.statistics;
  auto const& launch = decision_at(plan.plain, columns, scalar_bytes).first();
  bool const singles = reads_singles(plan, *launch.variant, scalar_bytes);
  std::ostringstream out;
  out << "a product reads at least "
      << bytes_of_matrix(plan.plain.facts(), launch, singles ? scalar_bytes / 2 : scalar_bytes)
      << " bytes of A" << (launch.narrow ? ", its columns in 16 bits" : "") << "; X and Y have "
      << (rows.rows + rows.columns) * columns * static_cast<std::int64_t>(scalar_bytes) << '\n';
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
void explain_panel(std::ostream& out, PlanState<Exec, Offset, Ordinal>& plan, int columns,
                   std::size_t scalar_bytes) {
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
}

template <class Exec, class Ordinal>
std::string explain_plan(PlanPanels<Exec, Ordinal>& plan, int columns, std::size_t scalar_bytes) {
  std::ostringstream out;
  if (plan.is_cut())
    out << "A has more than 2^31 entries: it is multiplied in " << plan.states.size()
        << " panels of rows, of which the first is\n";
  explain_panel(out, plan.first(), columns, scalar_bytes);
  return out.str();
}

}  // namespace blockspan::detail
