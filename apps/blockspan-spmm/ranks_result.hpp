#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/result.hpp"
#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

/// The product of one width on several ranks. Milliseconds of the slowest rank, medians.
struct RanksRun {
  int columns = 0;
  std::string interior;    ///< the kernel of the rows that need no other rank, on rank 0
  double product_ms = 0;   ///< with its exchange
  double local_ms = 0;     ///< the same work from rows that are there already
  double exchange_ms = 0;  ///< packing, sending and receiving alone
  int batches = 0, launches = 0;
  std::int64_t checked = 0;  ///< rows of Y compared with the reference, of all ranks
  Verdict verdict;           ///< of the rank whose result is worst

  /// The part of the exchange that the interior hides: 1 all of it, 0 nothing; 0 without exchange.
  double hidden() const;
};

/// What blockspan-spmm finds on several ranks.
struct RanksResult {
  Device device;  ///< of rank 0
  SpmmProblem problem;
  RanksReport ranks;  ///< bytes: of one column
  std::vector<RanksRun> runs;

  int wrong() const;
};

void print_result(std::ostream& out, SpmmCommand const& command, RanksResult const& result);

/// The JSON report. What is not a finite number is null.
///
///   schema     "blockspan-spmm-ranks/1"
///   versions, problem, backend, device, ranks   as other reports have them; bytes: of one column
///   options    columns, layout, algorithm, repeat, seed
///   right      true: no result is wrong
///   runs       per width: columns; interior; ms of product, local, exchange; hidden; batches,
///              launches; gflops; checked; right, deterministic, error, error_bound, not_a_number
std::string report_text(SpmmCommand const& command, RanksResult const& result);

}  // namespace blockspan::apps
