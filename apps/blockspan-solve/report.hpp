#pragma once

#include <string>

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/result.hpp"

namespace blockspan::apps {

/// The JSON report of a run. What is not a finite number is null.
///
///   schema                 "blockspan-solve/1"
///   versions               of blockspan, kokkos, kokkos_kernels
///   problem                source, scalar, rows, nonzeros, columns; rhs, guess,
///                          null_space: null or what was given
///   backend                "cuda", "openmp", "serial", ...
///   device                 name of the accelerator (null on the host), threads (null on it)
///   product                name: the kernel, or the peer; reason: why the plan chose it
///   preconditioner         null or its name
///   options                what was asked for, defaults included
///   converged              true: every column is solved, and the recomputed residuals confirm it
///   stop_reason            that of the first column that is not, one of solvers/status.hpp
///   advice                 what that means and what to do next
///   columns                per column: status, iterations, true_residual (||b - A x|| / ||b||,
///                          recomputed at the end from A, B and X themselves with the plain
///                          product), solver_residual (as the solver verified it), backward_error,
///                          outside (size of the part of b outside the range of a singular A,
///                          / ||b||, where that is known; with null_space residuals are those of
///                          the rest), cycle_residuals (of the start and after every cycle)
///   method                 pseudo_block, block, or the one after the other; reason: why
///   iterations             of all cycles and groups
///   operator_applications  how often A was applied to a block
///   counters               columns multiplied, synchronizations, and rare events
///   null_vectors           that A maps to zero: of null_space, or found
///   norm_a                 ||A|| in the backward errors
///   indefinite, curvature  whether a direction of negative curvature was found, and how negative
///   largest_condition      of the block method's one-step Gram matrices
///   history                per iteration: iteration, cycle, first_column, directions, residuals
///                          (relative, by the recurrence, all columns)
///   seconds                by phase; total is all of the run, solve is the solver
///   notes                  what else a reader should know, in words
std::string report_text(SolveCommand const& command, SolveResult const& result);

}  // namespace blockspan::apps
