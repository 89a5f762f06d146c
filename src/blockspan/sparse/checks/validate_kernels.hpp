#pragma once

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>
#include <blockspan/support/scalar.hpp>

// The device side of validate: each search is a minimum over indices, and so deterministic.

namespace blockspan::sparse {

inline constexpr std::int64_t no_fault = std::numeric_limits<std::int64_t>::max();

/// Row r is faulty if its start offset is out of range, or its end precedes its start.
template <class Offsets>
struct FindOffsetFault {
  Offsets offsets;  // rows + 1
  std::int64_t entries;

  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& first) const {
    // A 64-bit unsigned offset beyond the signed range becomes negative here, and is a fault too.
    auto const start = static_cast<std::int64_t>(offsets(row));
    bool const last = row + 1 == static_cast<std::int64_t>(offsets.extent(0));
    bool fault = start < 0 || start > entries || (row == 0 && start != 0);
    if (last)
      fault = fault || start != entries;
    else
      fault = fault || static_cast<std::int64_t>(offsets(row + 1)) < start;
    if (fault && row < first) first = row;
  }
};

template <class Indices, class Values>
struct FindEntryFault {
  Indices indices;  // entries
  Values values;    // entries
  std::int64_t columns;
  bool finite;

  KOKKOS_FUNCTION void operator()(std::int64_t position, std::int64_t& first) const {
    auto const column = static_cast<std::int64_t>(indices(position));
    bool const fault =
        column < 0 || column >= columns || (finite && !blockspan::is_finite(values(position)));
    if (fault && position < first) first = position;
  }
};

/// The last row that starts at or before a position: the row that contains it.
template <class Offsets>
struct FindRow {
  Offsets offsets;
  std::int64_t position;

  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& last) const {
    if (static_cast<std::int64_t>(offsets(row)) <= position && row > last) last = row;
  }
};

/// The smallest index that `functor` finds; -1 if none.
template <class Exec, class Functor>
std::int64_t first_index(Exec const& exec, char const* label, std::int64_t size,
                         Functor const& functor) {
  std::int64_t first = no_fault;
  Kokkos::parallel_reduce(label, IndexRange<Exec>(exec, 0, size), functor,
                          Kokkos::Min<std::int64_t>(first));
  return first == no_fault ? -1 : first;
}

template <class Exec, class Offsets>
std::int64_t first_offset_fault(Exec const& exec, Offsets const& offsets, std::int64_t entries) {
  return first_index(exec, "Blockspan::validate_offsets",
                     static_cast<std::int64_t>(offsets.extent(0)),
                     FindOffsetFault<Offsets>{offsets, entries});
}

template <class Exec, class Matrix>
std::int64_t first_entry_fault(Exec const& exec, Matrix const& A, bool finite) {
  using Indices = typename Matrix::index_type;
  using Values = typename Matrix::values_type;
  return first_index(
      exec, "Blockspan::validate_entries", static_cast<std::int64_t>(A.graph.entries.extent(0)),
      FindEntryFault<Indices, Values>{A.graph.entries, A.values,
                                      static_cast<std::int64_t>(A.numCols()), finite});
}

template <class Exec, class Offsets>
std::int64_t row_of(Exec const& exec, Offsets const& offsets, std::int64_t position) {
  std::int64_t last = -1;
  auto const rows = static_cast<std::int64_t>(offsets.extent(0)) - 1;
  Kokkos::parallel_reduce("Blockspan::validate_row", IndexRange<Exec>(exec, 0, rows),
                          FindRow<Offsets>{offsets, position}, Kokkos::Max<std::int64_t>(last));
  return last;
}

/// One element of an array that may be in device memory.
template <class Exec, class Array>
auto element(Exec const& exec, Array const& array, std::int64_t index) {
  typename Array::non_const_value_type value{};
  auto const i = static_cast<std::size_t>(index);
  Kokkos::View<typename Array::non_const_value_type*, Kokkos::HostSpace,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>> const host(&value, 1);
  Kokkos::deep_copy(exec, host, Kokkos::subview(array, std::make_pair(i, i + 1)));
  exec.fence("Blockspan::validate");
  return value;
}

template <class Exec, class Offsets>
std::string describe_offset_fault(Exec const& exec, Offsets const& offsets, std::int64_t entries,
                                  std::int64_t row) {
  auto const start = element(exec, offsets, row);
  bool const last = row + 1 == static_cast<std::int64_t>(offsets.extent(0));
  std::ostringstream text;
  if (row == 0 && start != 0)
    text << "the first row offset is " << start << ", not 0";
  else if (last)
    text << "the last row offset is " << start << ", the number of entries " << entries;
  else if (auto const end = element(exec, offsets, row + 1); end < start)
    text << "row offsets fall in row " << row << ": it starts at " << start << " and ends at "
         << end;
  else
    text << "the offset of row " << row << " is " << start << ", outside the " << entries
         << " entries";
  return text.str();
}

template <class Exec, class Matrix>
std::string describe_entry_fault(Exec const& exec, Matrix const& A, std::int64_t row,
                                 std::int64_t position) {
  auto const column = element(exec, A.graph.entries, position);
  std::ostringstream text;
  text << "row " << row << ", position " << position << ": ";
  if (static_cast<std::int64_t>(column) < 0 ||
      static_cast<std::int64_t>(column) >= static_cast<std::int64_t>(A.numCols()))
    text << "column index " << column << " is outside [0, " << A.numCols() << ")";
  else
    text << "the value in column " << column << " is " << element(exec, A.values, position);
  return text.str();
}

}  // namespace blockspan::sparse
