#pragma once

#include <cstdint>
#include <string>

namespace blockspan {

struct SpmmPlanOptions {
  int columns = 8;  ///< widest block expected, >= 1; other widths are served too, without new setup
  std::string algorithm = "auto";  ///< "auto" or an id of spmm_variants
  std::int64_t piece_length =
      0;  ///< entries of a piece of a cut row, at most; 0: the plan's choice

  /// Throws Error, with the menu, if a field is out of range.
  void validate() const;
};

}  // namespace blockspan
