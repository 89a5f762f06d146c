#pragma once

#include <algorithm>
#include <cstdint>

#include <blockspan/solvers/lobpcg.hpp>

namespace blockspan::detail {

/// Columns iterated together in a solve that is given an X of `columns`.
template <class Scalar, class Exec>
std::int64_t iterated_columns(LobpcgOptions<Scalar, Exec> const& options, std::int64_t columns) {
  return options.block > 0 ? options.block : columns;
}

/// True if `rows` rows hold five blocks beside the constraints, and beside the locked pairs when
/// only those of one block are missing. Otherwise the problem is solved densely.
template <class Scalar, class Exec>
bool holds_five_blocks(std::int64_t rows, LobpcgOptions<Scalar, Exec> const& options,
                       std::int64_t columns) {
  std::int64_t const block = iterated_columns(options, columns);
  std::int64_t const locked = std::max<std::int64_t>(0, options.wanted - block);
  std::int64_t const constraints = options.constraints.extent(1);
  return rows - constraints - locked >= 5 * block;
}

}  // namespace blockspan::detail
