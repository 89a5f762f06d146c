#include <algorithm>

#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

void SpmmPlanOptions::validate() const {
  require(columns >= 1, "blockspan::SpmmPlan", "columns must be at least 1 (", columns, ")");
  require(segment_length >= 0, "blockspan::SpmmPlan", "segment_length must not be negative (",
          segment_length, ")");
  auto const is_lane_count = [](int count) {
    return count >= 0 && count <= 32 && (count & (count - 1)) == 0;
  };
  require(is_lane_count(lanes.columns) && is_lane_count(lanes.entries) &&
              std::max(lanes.columns, 1) * std::max(lanes.entries, 1) <= 32,
          "blockspan::SpmmPlan", "lanes must be powers of two, together at most 32 (",
          lanes.columns, " over columns, ", lanes.entries, " over nonzeros)");
  require(lanes.vectors >= 0 && lanes.vectors <= 2, "blockspan::SpmmPlan",
          "a lane owns 1 or 2 vectors (", lanes.vectors, ")");
  bool const is_linked = spmm_variants().back()->component != nullptr;
  require(algorithm == "auto" || find_spmm_variant(algorithm) != nullptr, "blockspan::SpmmPlan",
          "unknown algorithm \"", algorithm, "\"; there are auto,", spmm_menu(),
          is_linked ? ""
                    : "\n(those of the literature are in the component Blockspan::published, which "
                      "this program does not link)");
}

}  // namespace blockspan
