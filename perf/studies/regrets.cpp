#include <string>

#include "studies/studies.hpp"

namespace blockspan::perf {

/// Patterns drawn by seeds: what the plan's choice costs where nobody tuned it.
Study regrets(Scope const& scope) {
  Study study;
  study.name = "regrets";
  study.title = "The plan's choice on patterns drawn at random";
  study.reproduces =
      "A fuzz: matrices of one to nine parts of drawn kinds (diagonals, bands, random columns, "
      "blocks, mostly empty rows, power laws), some permuted, all kernels of the core beside the "
      "plan's choice.";
  study.note = "Choice / best: time of the plan's choice over that of the best of our kernels.";
  study.table = {{"matrix", "matrix"},
                 {"n", "columns"},
                 {"nonzeros", "nonzeros"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"best of ours", "ms:blockspan"},
                 {"which", "who:blockspan"},
                 {"choice / best", "speedup:blockspan:auto"},
                 {"cuSPARSE / auto", "speedup:auto:cusparse"}};
  study.summaries = {
      {"auto over the best of ours, geometric mean", "geomean:blockspan:auto", ""},
      {"The ten worst of these", "worst:blockspan:auto", ""},
      {"cuSPARSE over auto, geometric means by columns", "by_width:geomean:auto:cusparse", ""},
      {"cuSPARSE ahead", "behind:auto:cusparse", ""}};
  std::vector<std::string> contenders{"auto", "cusparse/spmv", "cusparse/spmm/csr_alg2/row",
                                      "cusparse/spmm/csr_alg3/row"};
  contenders.insert(contenders.end(), scope.core.begin(), scope.core.end());
  int const seeds = scope.quick ? 2 : 16;
  for (int const n : scope.quick ? std::vector{1, 8} : std::vector{1, 4, 8, 32})
    for (int seed = 1; seed <= seeds; ++seed) {
      std::string const rows = scope.quick ? "600" : seed % 2 == 0 ? "150000" : "600000";
      study.cases.push_back({.group = "n = " + std::to_string(n),
                             .spec = "patches:" + rows + ":" + std::to_string(1 + seed % 9) +
                                     ":seed=" + std::to_string(seed) +
                                     (seed % 5 == 0 ? ":permute" : ""),
                             .columns = n,
                             .contenders = contenders});
    }
  return study;
}

}  // namespace blockspan::perf
