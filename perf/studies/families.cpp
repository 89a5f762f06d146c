#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

/// The plan's choice, the kernels of the core, and the row-major products of cuSPARSE.
std::vector<std::string> contenders_of_families(std::vector<std::string> const& core) {
  std::vector<std::string> all{"auto", "cusparse/spmv"};
  for (std::string const algorithm : {"default", "csr_alg1", "csr_alg2", "csr_alg3"})
    all.push_back("cusparse/spmm/" + algorithm + "/row");
  all.insert(all.end(), core.begin(), core.end());
  return all;
}

/// A matrix, and whether odd widths are of interest too.
struct Family {
  std::string spec;
  bool odd_widths = false;
};

std::vector<Family> families_of(bool quick) {
  if (quick) return {{"star:8:4"}, {"wells:6:2,4,100"}, {"attachment:500:4", true}};
  return {{"star:64:4", true},
          {"spins:19"},
          {"queues:26"},
          {"wells:50:2,40,900"},
          {"lognormal:4096x4096:490:0.6", true},
          {"circuit:300000:6,20,5000"},
          {"attachment:200000:8"},
          {"saddle:300000:100000"},
          {"p1:54", true},
          {"permute:p1:54"},
          {"elasticity:40"},
          {"laplace7:128"},
          {"laplace27:80"},
          {"rmat:18:16"}};
}

}  // namespace

Study families(Scope const& scope) {
  Study study;
  study.name = "families";
  study.title = "Families of matrices that no tuning saw";
  study.reproduces =
      "Stencils, quantum spins, queues, reservoirs with wells, an uneven pruned layer, circuits, "
      "graphs, saddle points and tetrahedra in two orders, which the model of the plan was not "
      "fitted to; beside them elasticity, two grids and an R-MAT graph, kinds that it knows.";
  study.note =
      "cuSPARSE: its fastest right row-major SpMM, preprocessed or not; at one column SpMV too. "
      "Ours: the kernels of the core, row-major. Share of the floor: of compulsory traffic at the "
      "speed of a copy. Choice / best: time of the plan's choice over that of the best of our "
      "kernels.";
  study.table = {{"matrix", "matrix"},
                 {"nonzeros", "nonzeros"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"best of ours", "ms:blockspan"},
                 {"which", "who:blockspan"},
                 {"cuSPARSE", "ms:cusparse"},
                 {"which", "who:cusparse"},
                 {"cuSPARSE / auto", "speedup:auto:cusparse"},
                 {"choice / best", "speedup:blockspan:auto"},
                 {"share of the floor", "share:auto"},
                 {"of cuSPARSE", "share:cusparse"},
                 {"column-major / auto", "speedup:auto:auto/column"}};
  study.plots = {{.name = "families",
                  .title = "Time over the floor",
                  .x = "number",
                  .curves = {{"auto", "over_floor:auto"}, {"cuSPARSE", "over_floor:cusparse"}},
                  .log_y = true,
                  .y = "time over the floor"}};
  study.summaries = {
      {"cuSPARSE over auto, geometric means by columns", "by_width:geomean:auto:cusparse", ""},
      {"cuSPARSE ahead", "behind:auto:cusparse", ""},
      {"auto over the floor, geometric means by columns", "by_width:geomean_floor:auto", ""},
      {"auto over the best of ours, geometric mean", "geomean:blockspan:auto", ""},
      {"The ten worst of these", "worst:blockspan:auto", ""}};
  std::vector<Family> const families = families_of(scope.quick);
  std::vector<std::string> const contenders = contenders_of_families(scope.core);
  std::vector<int> const widths =
      scope.quick ? std::vector{1, 5, 8} : std::vector{1, 2, 4, 5, 8, 16, 32, 33, 64};
  for (int const n : widths)
    for (Family const& family : families)
      if (n % 2 == 0 || n == 1 || family.odd_widths)
        study.cases.push_back({.group = std::string("n = ").append(std::to_string(n)),
                               .spec = family.spec,
                               .columns = n,
                               .contenders = contenders});
  return study;
}

}  // namespace blockspan::perf
