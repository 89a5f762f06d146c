#pragma once

#include "spmm/matrix.hpp"
#include "spmm/result.hpp"
#include "spmm/stopwatch.hpp"

namespace blockspan::perf {

/// What the cases of a run share.
struct Bench {
  Exec exec;
  double bytes_per_second = 0;  ///< of a copy
  TimingRules rules;
  std::unique_ptr<Stopwatch> stopwatch;
  MatrixCache matrices;
};

/// Runs every contender on a matrix and a block of `columns` columns: checks its Y against a
/// reference in extended precision, times it where that is right. Throws where the case cannot be
/// made; a contender that cannot serve it is recorded as refused. Compiled for the build's scalars.
template <class Scalar>
CaseResult measure(Bench& bench, std::string const& source, int columns);

}  // namespace blockspan::perf
