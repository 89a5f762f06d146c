#pragma once

#include <cstdint>
#include <string>

namespace blockspan {

/// Devices: how many vector lanes of a team thread are over the columns of a row of X and how
/// many over the nonzeros, powers of two, together at most 32, and vectors a lane: 1 or 2, while
/// plans use up to 3, of single columns up to 5. 0: the plan's model decides, for
/// each width of its own. For measurements: the plan knows better.
struct SpmmLanes {
  int columns = 0;
  int entries = 0;
  int vectors = 0;

  bool any() const { return columns > 0 || entries > 0 || vectors > 0; }
};

struct SpmmPlanOptions {
  int columns = 8;  ///< widest block expected, >= 1; other widths work too, without new setup
  std::string algorithm = "auto";  ///< "auto" or an id of spmm_variants
  bool strict =
      true;  ///< Error where the algorithm does not support a block; false: its fallback runs
  std::int64_t segment_length =
      0;  ///< entries of a segment of a cut row, at most; 0: the plan's choice
  SpmmLanes lanes = {};

  bool must_run() const { return strict && algorithm != "auto"; }
  /// Throws Error, with the menu, if a field is out of range.
  void validate() const;
};

}  // namespace blockspan
