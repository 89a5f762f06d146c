#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

void SpmmPlanOptions::validate() const {
  require(columns >= 1, "blockspan::SpmmPlan", "columns must be at least 1 (", columns, ")");
  require(piece_length >= 0, "blockspan::SpmmPlan", "piece_length must not be negative (",
          piece_length, ")");
  require(algorithm == "auto" || find_spmm_variant(algorithm) != nullptr, "blockspan::SpmmPlan",
          "unknown algorithm \"", algorithm, "\"; there are auto,", spmm_menu());
}

}  // namespace blockspan
