#pragma once

#include <cstdint>
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

/// Whether the columns start as blocks. entries: of B. few_steps: the preconditioner leaves tens of
/// iterations, of which a block saves few or none: one thread, multigrid, seconds as a block and
/// column by column, 8 and 32 columns: 7-point 40^3 0.110, 0.084; 0.619, 0.337; P1 mesh of 27,000
/// nodes 0.046, 0.035; 0.272, 0.151; elasticity 14^3 (16 and 21 iterations) 0.037, 0.039; 0.147,
/// 0.132; but where it is weak, Dubcova1 0.048, 0.075; 0.210, 0.287.
template <class Scalar, class Exec>
bool starts_as_block(CgMethod asked, std::int64_t columns, std::int64_t entries, bool few_steps) {
  if (asked != CgMethod::automatic) return asked == CgMethod::block;
  bool const small = entries < CgThresholds<real_t<Scalar>>::small_on_device;
  return columns > 1 && !few_steps && (runs_on_host_v<Exec> || !small);
}

inline std::string reason_of(CgMethod asked, bool block, bool few_steps, int columns, int width) {
  if (asked != CgMethod::automatic) return "asked for";
  if (columns == 1) return "one right-hand side";
  if (few_steps) return "the preconditioner leaves few iterations, of which a block saves little";
  if (!block)
    return "a small problem on a device, where the host's part in a block's steps is long";
  std::string const why = "several right-hand sides need fewer iterations as a block";
  if (columns == width) return why;
  return why + ": " + std::to_string(columns) + " in groups of up to " + std::to_string(width);
}

}  // namespace blockspan::krylov
