#include "studies/studies.hpp"

namespace blockspan::perf {

Study widths(Scope const& scope) {
  Study study;
  study.name = "widths";
  study.title = "What another column costs";
  study.reproduces =
      "The cost of a product as a function of the number of columns, n = 1 to 128, X and Y "
      "row-major and column-major.";
  study.table = {{"matrix", "matrix"},
                 {"n", "columns"},
                 {"floor", "floor"},
                 {"auto, row-major", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"auto, column-major", "ms:auto/column"},
                 {"it ran", "ran:auto/column"},
                 {"cuSPARSE, row-major", "ms:cusparse/spmm/csr_alg3/row"},
                 {"cuSPARSE, column-major", "ms:cusparse/spmm/csr_alg3/column"},
                 {"Kokkos Kernels", "ms:kokkos-kernels"}};
  study.plots = {{.name = "cost",
                  .title = "Cost of n columns",
                  .x = "columns",
                  .curves = {{"floor", "floor"},
                             {"auto, row-major", "ms:auto"},
                             {"auto, column-major", "ms:auto/column"},
                             {"cuSPARSE, row-major", "ms:cusparse/spmm/csr_alg3/row"},
                             {"cuSPARSE, column-major", "ms:cusparse/spmm/csr_alg3/column"},
                             {"Kokkos Kernels", "ms:kokkos-kernels"}},
                  .y = "ms"}};
  std::vector<std::string> const specs =
      scope.quick
          ? std::vector<std::string>{"laplace7:12"}
          : std::vector<std::string>{"laplace7:128", "laplace27:96", "elasticity:44", "rmat:18:16"};
  for (std::string const& spec : specs)
    for (int n = 1; n <= (scope.quick ? 9 : 128); n += scope.quick ? 4 : 1)
      study.cases.push_back({.group = spec,
                             .spec = spec,
                             .columns = n,
                             .contenders = {"auto", "cusparse/spmm/csr_alg3", "kokkos-kernels"}});
  return study;
}

}  // namespace blockspan::perf
