#pragma once

#include <blockspan/sparse/generators/generator_pattern.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::sparse {

/// row_map(i) = number of nonzeros in the rows before i.
template <class Exec, class Rule>
struct CountRows {
  using value_type = std::size_t;
  typename GeneratedPattern<Exec>::Offsets row_map;  // rows + 1
  Rule rule;
  std::int64_t rows, first;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::size_t& count, bool is_final) const {
    if (is_final) row_map(i) = count;
    if (i < rows) count += static_cast<std::size_t>(rule.row_length(first + i));
  }
};

template <class Exec, class Rule>
struct FillRows {
  GeneratedPattern<Exec> pattern;
  Rule rule;
  std::int64_t first_row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::size_t const first = pattern.row_map(i);
    int const length = static_cast<int>(pattern.row_map(i + 1) - first);
    int* const columns = pattern.entries.data() + first;
    if constexpr (Rule::has_values)
      rule.fill(first_row + i, length, columns, pattern.values.data() + first);
    else
      rule.fill(first_row + i, length, columns);
  }
};

/// Assembles matrices whose rows can be generated independently: count, scan, allocate, fill. A
/// rule is a device-copyable struct with
///   static constexpr bool has_values;
///   std::int64_t row_length(std::int64_t i);
///   void fill(std::int64_t i, int length, int* columns [, double* values]);
/// Fences exec once, to read the number of nonzeros.
template <class Exec, class Rule>
GeneratedPattern<Exec> assemble_rows(Exec const& exec, char const* label, std::int64_t rows,
                                     std::int64_t columns, Rule const& rule,
                                     NonzeroLimit const& limit) {
  using Pattern = GeneratedPattern<Exec>;
  std::int64_t const first = limit.first_row;
  if (limit.last_row >= 0) rows = limit.last_row - first;
  Pattern pattern{.rows = rows,
                  .columns = columns,
                  .row_map = allocate<typename Pattern::Offsets>(
                      exec, "Blockspan::generate::row_map", rows + 1),
                  .entries = {},
                  .values = {}};
  std::size_t nonzeros = 0;
  Kokkos::parallel_scan(std::string(label) + "::count", IndexRange<Exec>(exec, 0, rows + 1),
                        CountRows<Exec, Rule>{pattern.row_map, rule, rows, first}, nonzeros);
  exec.fence("Blockspan::generate: number of nonzeros");
  limit.check(static_cast<std::int64_t>(nonzeros));
  auto const size = static_cast<std::int64_t>(nonzeros);
  pattern.entries = allocate<typename Pattern::Indices>(exec, "Blockspan::generate::entries", size);
  if (Rule::has_values)
    pattern.values = allocate<typename Pattern::Values>(exec, "Blockspan::generate::values", size);
  Kokkos::parallel_for(std::string(label) + "::fill", IndexRange<Exec>(exec, 0, rows),
                       FillRows<Exec, Rule>{pattern, rule, first});
  return pattern;
}

}  // namespace blockspan::sparse
