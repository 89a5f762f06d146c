#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/spmm/plan/explain.hpp>
#include <blockspan/spmm/plan/model.hpp>

namespace blockspan::products {
namespace {

/// An order is spoken of where X is larger than a first-level cache, and so large a share of the
/// columns lies far from their row. (Reasoned. A permuted 7-point grid of 128^3, 8 columns, costs
/// 2.3 times.)
constexpr std::int64_t order_least_bytes = std::int64_t{1} << 20;
constexpr double order_least_far = 0.1;

std::string best_three(std::vector<SpmmPrediction> const& predictions) {
  std::ostringstream out;
  out << std::setprecision(3);
  for (std::size_t i = 0; i < predictions.size() && i < 3; ++i)
    out << (i > 0 ? ", " : "") << predictions[i].variant->id << ' ' << predictions[i].microseconds
        << " us";
  out << " (by the model, at the plan's width)";
  return out.str();
}

/// How column-major blocks run.
std::string column_major_in_words(Decision const& decision) {
  auto const& launch = decision.first();
  if (launch.form == LaunchForm::lane_a_row || launch.form == LaunchForm::staged_columns)
    return "column-major blocks run as " + std::string(launch.variant->id) + ", with a lane a row";
  if (decision.x == BlockCopy::whole_vectors || decision.y_by_copy)
    return "column-major blocks go by way of row-major copies";
  return "column-major blocks are read element by element";
}

/// The launches of a block, if several.
std::string panels_in_words(Decision const& decision) {
  if (decision.launches.size() == 1) return {};
  std::ostringstream out;
  for (auto const& launch : decision.launches)
    out << (&launch == &decision.first() ? "  in products of " : ", ") << launch.columns;
  out << " columns, for the sake of caches and lanes\n";
  return out.str();
}

/// What the plan has listed for the variant chosen.
void explain_lists(std::ostream& out, ExplainedPattern const& A) {
  auto const& variant = *A.choice.variant;
  auto const& rows = A.facts.rows;
  if (variant.lists_segments())
    out << "  " << A.segments.rows << " rows are cut into " << A.segments.segments
        << " segments of at most " << A.choice.segment << " nonzeros\n";
  std::int64_t const groups = A.facts.groups.groups;
  if (variant.lists_groups() || (groups > 0 && groups < rows.rows))
    out << "  rows with the same columns make " << groups << " groups of "
        << static_cast<double>(rows.rows) / static_cast<double>(groups)
        << " rows on average, at most " << A.rows_of_group << '\n';
  if (variant.lists_tiles())
    out << "  " << A.tiles << " tiles cut " << A.cut_tiles.rows << " rows into "
        << A.cut_tiles.segments << " segments\n";
  if (variant.explain != nullptr) out << variant.explain(A);
}

/// What runs for blocks that the variant chosen does not support.
void explain_fallbacks(std::ostream& out, ExplainedPattern const& A, DeviceFacts const& device) {
  auto const& variant = *A.choice.variant;
  auto const& fallback = fallback_of(A.facts, A.choice);
  if (variant.needs_contiguous_x() && !device.is_host)
    out << "  blocks without "
        << (variant.requires_aligned_x ? "16-byte aligned, contiguous rows of whole vectors"
                                       : "contiguous rows of X")
        << " run as " << unvectorized(fallback).label << '\n';
}

}  // namespace

std::string explain_pattern(std::string const& what, ExplainedPattern const& A, int columns,
                            Decision const& decision, Decision const& column_major,
                            DeviceFacts const& device) {
  auto const& rows = A.facts.rows;
  auto const& choice = A.choice;
  std::ostringstream out;
  out << what << ": " << rows.rows << " x " << rows.columns << ", " << rows.nonzeros
      << " nonzeros, rows of " << rows.shortest << " to " << rows.longest << ", mean "
      << rows.mean() << ", " << rows.empty_rows << " empty\n  runs "
      << decision.first().variant->label << " at " << columns
      << (columns == 1 ? " column: " : " columns: ") << choice.variant->parts << "\n  because "
      << choice.reason << '\n'
      << panels_in_words(decision);
  if (!choice.predictions.empty()) out << "  expected " << best_three(choice.predictions) << '\n';
  out << "  rejected " << choice.rejected << '\n';
  explain_lists(out, A);
  explain_fallbacks(out, A, device);
  if (columns > 1 && !device.is_host) out << "  " << column_major_in_words(column_major) << '\n';
  return out.str();
}

std::int64_t bytes_of_matrix(PatternFacts const& A, Launch const& launch, std::size_t value_bytes) {
  auto const times = [](std::int64_t count, std::size_t each) {
    return count * static_cast<std::int64_t>(each);
  };
  std::int64_t const rows = A.rows.rows / A.block;
  auto const bytes_of = launch.variant->bytes_of_indices;
  std::int64_t const indices =
      bytes_of != nullptr
          ? bytes_of(A, launch)
          : times(A.rows.nonzeros, launch.narrow ? sizeof(std::int16_t) : sizeof(int));
  return times(A.rows.nonzeros, value_bytes) + indices + times(rows + 1, sizeof(int));
}

std::string explain_bytes(PatternFacts const& A, Launch const& launch, int columns,
                          std::size_t scalar_bytes) {
  std::ostringstream out;
  out << "a product reads at least " << bytes_of_matrix(A, launch, scalar_bytes) << " bytes of A"
      << (launch.narrow ? ", its columns in 16 bits" : "") << "; X and Y have "
      << (A.rows.rows + A.rows.columns) * columns * static_cast<std::int64_t>(scalar_bytes) << '\n';
  return out.str();
}

bool order_may_matter(RowStatistics const& rows, int columns, std::size_t scalar_bytes) {
  std::int64_t const bytes = rows.rows * columns * static_cast<std::int64_t>(scalar_bytes);
  return rows.rows == rows.columns && bytes >= order_least_bytes;
}

std::string explain_order(RowStatistics const& rows, double far, int columns,
                          std::size_t scalar_bytes, DeviceFacts const& device) {
  if (far < order_least_far) return {};
  std::ostringstream out;
  out << std::setprecision(2) << "  " << 100 * far
      << " % of the columns lie far from their row: an order that brings them near "
         "(order_by_cuthill_mckee), if "
         "their graph has one, keeps rows of X in the caches";
  if (!device.is_host)
    out << "; a product would take "
        << DeviceModel(rows, columns, scalar_of_bytes(scalar_bytes), device).near_over_far(far)
        << " of the time at best (by the model)";
  out << '\n';
  return out.str();
}

}  // namespace blockspan::products
