#include "blockspan-spmm/result.hpp"

#include <algorithm>

namespace blockspan::apps {

double SpmmProblem::flops(int n) const {
  return (complex ? 8.0 : 2.0) * static_cast<double>(nonzeros) * n;
}

double SpmmProblem::bytes(int n) const {
  auto const matrix =
      static_cast<double>(nonzeros) * static_cast<double>(ordinal_bytes + scalar_bytes);
  auto const offsets = static_cast<double>(rows + 1) * static_cast<double>(offset_bytes);
  auto const blocks = static_cast<double>(rows + columns) * n * static_cast<double>(scalar_bytes);
  return matrix + offsets + blocks;
}

double SpmmResult::gflops(SpmmRun const& run) const {
  return problem.flops(run.columns) / run.times->median_ms * 1e-6;
}

double SpmmResult::gbytes(SpmmRun const& run) const {
  return problem.bytes(run.columns) / run.times->median_ms * 1e-6;
}

double SpmmResult::share_of_floor(SpmmRun const& run) const {
  return 1e9 * gbytes(run) / copy.bytes_per_second;
}

int SpmmResult::wrong() const {
  return static_cast<int>(std::count_if(runs.begin(), runs.end(), [](SpmmRun const& run) {
    return run.refused.empty() && !run.verdict.right;
  }));
}

}  // namespace blockspan::apps
