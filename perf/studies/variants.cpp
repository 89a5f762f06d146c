#include <array>
#include <cmath>

#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

std::vector<std::string> const menu{"thread_per_element",
                                    "single_columns",
                                    "staged_single_columns",
                                    "rows",
                                    "staged_rows",
                                    "auto",
                                    "cusparse"};

Case product(int m, int k, int n, double density, bool quick) {
  return {.group = std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n),
          .spec = spec_of("fixed", m, k, std::round(density * k)),
          .scalar = quick ? "f64" : "f32",
          .columns = n,
          .notes = {{"density", density}},
          .contenders = menu,
          .alpha = 2,
          .beta = 0.5};
}

/// The columns and curves of the page.
void lay_out_variants(Study& study) {
  study.table = {{"density", "note:density"},
                 {"naive", "gflops:thread_per_element"},
                 {"warp per row", "gflops:single_columns"},
                 {"+ staged", "gflops:staged_single_columns"},
                 {"+ vectors", "gflops:rows"},
                 {"+ both", "gflops:staged_rows"},
                 {"auto", "gflops:auto"},
                 {"it ran", "ran:auto"},
                 {"cuSPARSE", "gflops:cusparse"},
                 {"which", "who:cusparse"},
                 {"vectors over cuSPARSE", "speedup:rows:cusparse"},
                 {"auto over cuSPARSE", "speedup:auto:cusparse"}};
  study.plots = {{.name = "gflops",
                  .title = "Variants",
                  .x = "note:density",
                  .curves = {{"naive", "gflops:thread_per_element"},
                             {"warp per row", "gflops:single_columns"},
                             {"+ staged", "gflops:staged_single_columns"},
                             {"+ vectors", "gflops:rows"},
                             {"+ both", "gflops:staged_rows"},
                             {"auto", "gflops:auto"},
                             {"cuSPARSE", "gflops:cusparse"}},
                  .y = "GFLOP/s"}};
}

}  // namespace

Study variants(Scope const& scope) {
  Study study;
  study.name = "variants";
  study.title = "From the naive kernel to staged vectors";
  study.reproduces =
      "The ladder of kernels of GE-SpMM and its successors (Huang, Dai, Wang, Yang 2020, SC, "
      "doi:10.1109/SC41405.2020.00076): naive, warp per row, + staged, + vectors, + both, "
      "Y = alpha A X + beta Y, four sizes and densities of 0.01 to 0.30.";
  study.note =
      "alpha = 2 and beta = 0.5, powers of two: the repetitions cannot overflow, and scaling costs "
      "no digit.";
  lay_out_variants(study);
  struct Rung {
    char const *name, *id, *published;
  };
  for (auto const& [name, id, published] :
       {Rung{"naive", "thread_per_element", ""}, Rung{"warp per row", "single_columns", ""},
        Rung{"staged", "staged_single_columns", ""}, Rung{"vectors", "rows", "1.48"},
        Rung{"staged vectors", "staged_rows", ""}, Rung{"auto", "auto", ""}}) {
    study.summaries.push_back(
        {std::string("Mean GFLOP/s, ") + name, std::string("mean_gflops:") + id, ""});
    study.summaries.push_back({std::string("Mean speed-up over cuSPARSE, ") + name,
                               std::string("mean_speedup:") + id + ":cusparse", published});
  }
  if (scope.quick) {
    for (double const density : {0.01, 0.3})
      study.cases.push_back(product(64, 128, 16, density, true));
  } else {
    for (auto const& [m, k, n] :
         {std::array{512, 1024, 64}, {1024, 2048, 128}, {4096, 4096, 128}, {8192, 4096, 256}})
      for (double const density : {0.01, 0.05, 0.1, 0.2, 0.3})
        study.cases.push_back(product(m, k, n, density, false));
  }
  Case profile =
      scope.quick ? product(64, 128, 16, 0.1, true) : product(8192, 4096, 256, 0.1, false);
  profile.group = "profile";
  profile.task = Task::profile;
  study.cases.push_back(profile);
  return study;
}

}  // namespace blockspan::perf
