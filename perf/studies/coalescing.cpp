#include <cmath>

#include "studies/studies.hpp"

namespace blockspan::perf {

Study coalescing(Scope const& scope) {
  Study study;
  study.name = "coalescing";
  study.title = "A thread that loops over the columns against lanes over the columns";
  study.reproduces =
      "The step from a thread per row, which walks its row once a column, to a warp whose lanes "
      "stand over neighbouring columns: 512 x 512, N = 64 over densities, then 8192 x 8192, N = "
      "64, 1 %; GFLOP/s = 2 nnz N / t, errors against a reference on the host.";
  study.table = {{"matrix", "matrix"},
                 {"density", "note:density"},
                 {"nonzeros", "nonzeros"},
                 {"baseline ms", "ms:thread_per_row"},
                 {"GFLOP/s", "gflops:thread_per_row"},
                 {"error", "error:thread_per_row"},
                 {"coalesced ms", "ms:single_columns"},
                 {"GFLOP/s", "gflops:single_columns"},
                 {"error", "error:single_columns"},
                 {"coalesced over baseline", "speedup:single_columns:thread_per_row"},
                 {"auto ms", "ms:auto"},
                 {"GFLOP/s", "gflops:auto"},
                 {"cuSPARSE ms", "ms:cusparse"},
                 {"auto over cuSPARSE", "speedup:auto:cusparse"}};
  study.plots = {{.name = "gflops",
                  .title = "Coalescing",
                  .x = "note:density",
                  .curves = {{"thread per row", "gflops:thread_per_row"},
                             {"warp per row", "gflops:single_columns"},
                             {"auto", "gflops:auto"},
                             {"cuSPARSE", "gflops:cusparse"}},
                  .log_x = true,
                  .log_y = true,
                  .y = "GFLOP/s"}};
  auto const add = [&](int size, double density, int n) {
    study.cases.push_back({.group = std::to_string(size),
                           .spec = spec_of("fixed", size, size, std::round(size * density)),
                           .scalar = scope.quick ? "f64" : "f32",
                           .columns = n,
                           .notes = {{"density", density}},
                           .contenders = {"auto", "thread_per_row", "thread_per_element",
                                          "single_columns", "rows", "cusparse"}});
  };
  if (scope.quick) {
    for (double const density : {0.02, 0.2}) add(128, density, 16);
    return study;
  }
  for (double const density : {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5}) add(512, density, 64);
  add(8192, 0.01, 64);
  return study;
}

}  // namespace blockspan::perf
