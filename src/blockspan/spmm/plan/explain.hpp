#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/launch.hpp>

// The text of `explain`, from the facts and decisions that products use.

namespace blockspan::products {

/// Rows that were cut, and their segments.
struct CutRowCount {
  std::int64_t rows = 0;
  std::int64_t segments = 0;
};

/// A pattern as a plan has prepared it. Counts are reported for the variant chosen.
struct ExplainedPattern {
  PatternFacts facts;
  SpmmChoice const& choice;
  int rows_of_group = 0;  ///< at most
  CutRowCount segments;
  std::int64_t tiles = 0;
  CutRowCount cut_tiles;
};

/// The matrix, the kernel that runs with `columns` columns, why, and what was rejected. `decision`:
/// for row-major blocks of whole vectors where they fit; `column_major`: for others.
std::string explain_pattern(std::string const& what, ExplainedPattern const& A, int columns,
                            Decision const& decision, Decision const& column_major,
                            DeviceFacts const& device);

/// Bytes of A that a launch reads at least: values of `value_bytes` each, column indices as stored
/// for it, row offsets.
std::int64_t bytes_of_matrix(PatternFacts const& A, Launch const& launch, std::size_t value_bytes);

/// Bytes that a product has to read and write.
std::string explain_bytes(PatternFacts const& A, Launch const& launch, int columns,
                          std::size_t scalar_bytes);

/// Whether X is so large that an order with columns near their rows might use the caches better.
bool order_may_matter(RowStatistics const& rows, int columns, std::size_t scalar_bytes);

/// The possible gain; `far`: the share of the entries whose column is far from their row.
std::string explain_order(RowStatistics const& rows, double far, int columns,
                          std::size_t scalar_bytes, DeviceFacts const& device);

}  // namespace blockspan::products
