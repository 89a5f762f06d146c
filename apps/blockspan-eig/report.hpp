#pragma once

#include <string>

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"

namespace blockspan::apps {

/// The JSON report of a run. What is not a finite number (the relative residual of a zero
/// eigenvalue, say) is null. Arrays are per wanted pair, in the order of the eigenvalues: ascending
/// for `smallest`, descending for `largest`.
///
///   schema                 "blockspan-eig/1"
///   versions               of blockspan, kokkos, kokkos_kernels
///   problem                source, operator, scalar, rows, nonzeros; mass: null or its source and
///                          nonzeros
///   backend                "cuda", "openmp", "serial", ...
///   device                 name of the accelerator (null on the host), threads (null on it)
///   product                name: the kernel, or the peer; reason: why the plan chose it
///   options                what was asked for, defaults included; block: the columns used
///   converged              true: every pair converged, and the recomputed residuals confirm it
///   stop_reason            one of solvers/status.hpp, for the run
///   advice                 what that means and what to do next
///   path                   "iterative", "dense" or "exact" (by factors)
///   eigenvalues
///   residuals              backward errors ||r|| / ((||A|| + |lambda| ||M||) ||x||), recomputed at
///                          the end from A and M themselves with the plain product
///   norms                  A, M: the ||A|| and ||M|| in them
///   relative_residuals     ||r|| / (|lambda| ||M x||), recomputed likewise
///   solver_residuals       the backward errors as the solver reported them
///   status                 per pair: converged, attainable_limit or not_converged
///   certificate            null unless asked for: radius (some eigenvalue is this close),
///   gap_radius
///                          (the eigenvalue of this index is, if none was missed),
///                          orthogonality_loss, rigorous (false: a norm in the radii is an
///                          estimate)
///   fault                  null, or operator, column and iteration of the first NaN or Inf seen
///   iterations
///   operator_applications  how often A was applied to a block
///   counters               columns multiplied by each operator, and rare events
///   history                per iteration: iteration, active (columns), eigenvalues, residuals
///   seconds                by phase; total is all of the run, solve is the solver
///   notes                  what else a reader should know, in words
std::string report_text(EigCommand const& command, EigResult const& result);

}  // namespace blockspan::apps
