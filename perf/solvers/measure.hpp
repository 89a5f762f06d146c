#pragma once

#include <string>

#include "spmm/measure.hpp"
#include "suite/script.hpp"

namespace blockspan::perf {

/// Solves the problem of a case (eigenpairs or linear systems, f64) by Blockspan, by Blockspan with
/// the products of others, and by the peers of peers/solve.py; from the same matrix, right-hand
/// sides and start, to the same tolerance, with Jacobi where there is a preconditioner. Who was
/// right is decided here, from the matrix itself; only that has a time. Throws where the problem
/// cannot be made.
CaseResult measure_solvers(Bench& bench, std::string const& source, Case const& one,
                           Scripts const& scripts);

/// The hierarchy of a matrix: its levels, setup and refresh by phase, and cycles of 1, 8 and 32
/// columns beside what their traffic takes at the speed of a copy. Cycles are checked to be
/// Hermitian and positive. Throws where it cannot be made.
CaseResult measure_hierarchy(Bench& bench, std::string const& source);

}  // namespace blockspan::perf
