#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <blockspan/solvers/cg/thresholds.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>

// Whether columns are solved as a block, and how many of them together.

namespace blockspan::krylov {

/// Widest block whose small matrices cost less than its columns gain; and that automatic takes on
/// hosts, where the arithmetic of wider ones is no longer hidden behind memory
/// (perf/notes/linear_systems.md).
inline constexpr int widest_useful_block = 32, widest_on_hosts = 16;

/// Columns solved together, when `columns` are to be cut into groups of about equal width.
inline int group_width(int columns, int widest) {
  int const groups = ceil_div(columns, widest);
  return ceil_div(columns, groups);
}

/// What decides whether columns that `automatic` solves start as a block.
struct BlockFacts {
  bool on_host = true;
  std::int64_t entries = 0;  ///< of B
  /// The preconditioner leaves tens of iterations, of which a block saves few or none: one thread,
  /// multigrid, seconds as a block and column by column, 8 and 32 columns: 7-point 40^3 0.110,
  /// 0.084; 0.619, 0.337; P1 mesh of 27,000 nodes 0.046, 0.035; 0.272, 0.151; elasticity 14^3 (16
  /// and 21 iterations) 0.037, 0.039; 0.147, 0.132; but where it is weak, Dubcova1 0.048, 0.075;
  /// 0.210, 0.287.
  bool few_steps = false;
  /// Multiplications a row in a product with A and one with its preconditioner; none: not known.
  std::optional<double> work = {};
};

template <class Scalar, class Exec>
BlockFacts block_facts(LinearOperator<Scalar, Exec> const& A,
                       LinearOperator<Scalar, Exec> const* preconditioner, std::int64_t rows,
                       std::int64_t columns) {
  BlockFacts facts{runs_on_host_v<Exec>, rows * columns};
  auto const of_a = A.facts();
  if (of_a.work) facts.work = static_cast<double>(*of_a.work) / static_cast<double>(rows);
  if (!preconditioner) return facts;
  auto const of_m = preconditioner->facts();
  facts.few_steps = of_m.nearly_exact;
  bool const is_diagonal = of_m.row_weights.extent(0) > 0;
  if (!is_diagonal && !of_m.work) facts.work.reset();
  if (facts.work)
    *facts.work += is_diagonal ? 1 : static_cast<double>(*of_m.work) / static_cast<double>(rows);
  return facts;
}

/// Whether columns go by themselves; in words, else empty.
template <class Real>
std::string reason_for_columns(BlockFacts const& facts) {
  using Thresholds = CgThresholds<Real>;
  if (facts.few_steps)
    return "the preconditioner leaves few iterations, of which a block saves little";
  if (facts.on_host) return "";
  if (facts.entries < Thresholds::small_on_device)
    return "a small problem on a device, where the host's part in a block's steps is long";
  if (facts.work && *facts.work < Thresholds::work_of_block)
    return "short rows on a device, where the sums of a block take longer than it saves";
  return "";
}

inline std::string reason_of(CgMethod asked, std::string const& for_columns, int columns,
                             int width) {
  if (asked != CgMethod::automatic) return "asked for";
  if (columns == 1) return "one right-hand side";
  if (!for_columns.empty()) return for_columns;
  std::string const why = "several right-hand sides need fewer iterations as a block";
  if (columns == width) return why;
  return why + ": " + std::to_string(columns) + " in groups of up to " + std::to_string(width);
}

}  // namespace blockspan::krylov
