#include "studies/studies.hpp"

namespace blockspan::perf {

Study scaling(Scope const& scope) {
  Study study;
  study.name = "scaling";
  study.title = "From ten thousand to a billion nonzeros";
  study.reproduces =
      "Time against the size of the problem, and what preparing a product costs, in products.";
  study.table = {{"matrix", "matrix"},
                 {"rows", "rows"},
                 {"nonzeros", "nonzeros"},
                 {"floor", "floor"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"setup ms", "setup:auto"},
                 {"setup in products", "setup_products:auto"},
                 {"cuSPARSE", "ms:cusparse"},
                 {"which", "who:cusparse"},
                 {"its setup ms", "setup:cusparse"},
                 {"Kokkos Kernels", "ms:kokkos-kernels"},
                 {"Eigen", "ms:eigen"},
                 {"MKL", "ms:mkl"},
                 {"over the floor", "over_floor:auto"},
                 {"over cuSPARSE", "speedup:auto:cusparse"},
                 {"over Kokkos Kernels", "speedup:auto:kokkos-kernels"}};
  study.plots = {{.name = "time",
                  .title = "Scaling",
                  .x = "nonzeros",
                  .curves = {{"floor", "floor"},
                             {"auto", "ms:auto"},
                             {"its setup", "setup:auto"},
                             {"cuSPARSE", "ms:cusparse"},
                             {"Kokkos Kernels", "ms:kokkos-kernels"}},
                  .log_x = true,
                  .log_y = true,
                  .y = "ms"}};
  std::vector<std::string> specs{"laplace7:11",  "laplace7:24",  "laplace7:52", "laplace7:113",
                                 "laplace7:243", "laplace7:523", "rmat:10:16",  "rmat:13:16",
                                 "rmat:16:16",   "rmat:20:16",   "rmat:23:16",  "rmat:26:16"};
  if (scope.quick) specs = {"laplace7:11", "laplace7:24", "rmat:10:16"};
  for (std::string const& spec : specs)
    study.cases.push_back({.group = spec.substr(0, spec.find(':')),
                           .spec = spec,
                           .columns = 8,
                           .contenders = {"auto", "cusparse", "kokkos-kernels", "eigen", "mkl"}});
  return study;
}

}  // namespace blockspan::perf
