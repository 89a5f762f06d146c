#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/checks/validate_kernels.hpp>

namespace blockspan {

struct ValidateOptions {
  bool finite = false;  ///< also look for NaN and infinite values
};

/// The result of validate: the first fault in the order of its checks, if any.
struct ValidationReport {
  bool valid = true;
  std::string fault = {};      ///< a message with row, position and the offending values
  std::int64_t row = -1;       ///< row of the fault, or of the first of two inconsistent offsets
  std::int64_t position = -1;  ///< position of the fault among the entries

  explicit operator bool() const { return valid; }
};

/// Checks that A is a consistent compressed-row matrix, for any KokkosSparse::CrsMatrix in memory
/// of exec.
///
/// In this order: one value for each column index; offsets that begin at 0, never decrease, stay
/// within the entries and end at their count; column indices in [0, columns) and, if requested,
/// finite values, whichever fault comes first in memory. Unsorted and repeated columns are valid.
/// Never reads outside the arrays, whatever the offsets contain, and reports the same fault on
/// every run.
///
/// One pass over the offsets and one over the entries, on `exec`; fences it. Throws no Error
/// of its own.
template <class Exec, class Matrix>
ValidationReport validate(Exec const& exec, Matrix const& A, ValidateOptions const& options = {}) {
  static_assert(Kokkos::SpaceAccessibility<Exec, typename Matrix::memory_space>::accessible,
                "validate runs where the matrix lives");
  auto const entries = static_cast<std::int64_t>(A.graph.entries.extent(0));
  auto const values = static_cast<std::int64_t>(A.values.extent(0));
  if (entries != values)
    return {false, "the matrix has " + std::to_string(entries) + " column indices and " +
                       std::to_string(values) + " values"};
  auto const offsets = A.graph.row_map;
  if (offsets.extent(0) == 0 && entries == 0) return {};
  if (offsets.extent(0) == 0)
    return {false, "the matrix has no row offsets and " + std::to_string(entries) + " entries"};

  if (auto const row = sparse::first_offset_fault(exec, offsets, entries); row >= 0)
    return {false, sparse::describe_offset_fault(exec, offsets, entries, row), row, -1};

  std::int64_t const position = sparse::first_entry_fault(exec, A, options.finite);
  if (position < 0) return {};
  std::int64_t const row = sparse::row_of(exec, offsets, position);
  return {false, sparse::describe_entry_fault(exec, A, row, position), row, position};
}

}  // namespace blockspan
