#pragma once

#include <map>
#include <string>

#include "spmm/matrix.hpp"
#include "spmm/result.hpp"
#include "spmm/stopwatch.hpp"
#include "studies/study.hpp"

namespace blockspan::perf {

/// What the cases of a run share.
struct Bench {
  Exec exec;
  double bytes_per_second = 0;         ///< of a copy
  double gather_bytes_per_second = 0;  ///< of rows read from the cache
  TimingRules rules;
  std::unique_ptr<Stopwatch> stopwatch;
  MatrixCache matrices = {};
  bool quick = false;       ///< see that everything works
  std::string fault = {};   ///< id of the contender whose results are spoilt; empty: none
  double peer_seconds = 0;  ///< that a peer's process may take
  /// Smallest work (nonzeros times columns) on which a peer of solvers took longer than that.
  std::map<std::string, double> too_much = {};
};

/// Runs the contenders of a case on the matrix of `source`: checks their Y against a reference in
/// extended precision, times them where that is right. Throws where the case cannot be made; a
/// contender that cannot serve it is recorded as refused. Compiled for the build's scalars.
template <class Scalar>
CaseResult measure(Bench& bench, std::string const& source, Case const& one);

}  // namespace blockspan::perf
