#include "studies/studies.hpp"

namespace blockspan::perf {

Study roofline(Scope const& scope) {
  Study study;
  study.name = "roofline";
  study.title = "How far from the floors";
  study.reproduces =
      "Time over the floor of compulsory traffic (A once, each row of X that is used once, Y once, "
      "at the speed of a copy) and over the floor of the gather (a row of X for every nonzero, at "
      "the speed at which the last-level cache feeds such reads).";
  study.table = {{"matrix", "matrix"},
                 {"type", "scalar"},
                 {"n", "columns"},
                 {"flop a byte", "intensity"},
                 {"floor", "floor"},
                 {"gather floor", "gather"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"over the floor", "over_floor:auto"},
                 {"over the gather floor", "over_gather:auto"},
                 {"cuSPARSE over the floor", "over_floor:cusparse"},
                 {"Kokkos Kernels over the floor", "over_floor:kokkos-kernels"},
                 {"Eigen over the floor", "over_floor:eigen"},
                 {"MKL over the floor", "over_floor:mkl"},
                 {"GFLOP/s", "gflops:auto"},
                 {"GB/s", "gbytes:auto"}};
  study.plots = {{.name = "roofline",
                  .title = "Roofline",
                  .x = "intensity",
                  .curves = {{"auto", "gflops:auto"},
                             {"cuSPARSE", "gflops:cusparse"},
                             {"Kokkos Kernels", "gflops:kokkos-kernels"},
                             {"roof: copy", "roof"}},
                  .log_x = true,
                  .log_y = true,
                  .y = "GFLOP/s"}};
  study.summaries = {{"Geometric mean of auto over the floor", "geomean_floor:auto", ""},
                     {"Geometric mean of cuSPARSE over the floor", "geomean_floor:cusparse", ""}};
  std::vector<std::string> const specs =
      scope.quick
          ? std::vector<std::string>{"laplace7:16", "rmat:9:8"}
          : std::vector<std::string>{"laplace7:128",        "laplace27:96",
                                     "elasticity:44",       "rmat:20:16",
                                     "banded:500000:16",    "powerlaw:1000000x1000000:12:2.1",
                                     "uniform:8192x8192:1", "hypersparse:4000000x4000000:0.3",
                                     "wide:512x394792:2242"};
  std::vector<int> const widths =
      scope.quick ? std::vector{1, 8} : std::vector{1, 2, 4, 8, 16, 32, 64};
  for (std::string const& spec : specs)
    for (int const n : widths)
      study.cases.push_back({.group = spec.substr(0, spec.find(':')),
                             .spec = spec,
                             .columns = n,
                             .contenders = {"auto", "cusparse", "kokkos-kernels", "eigen", "mkl"}});
  return study;
}

}  // namespace blockspan::perf
