#include <string>

#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

/// uniform:MxK:S has between half of K*S/100 and K*S/100 nonzeros a row.
Case scenario(std::string const& group, std::int64_t m, std::int64_t k, double density, int n,
              bool quick) {
  Case one;
  one.group = group;
  one.spec = spec_of("uniform", m, k, density);
  one.scalar = quick ? "f64" : "f32";
  one.columns = n;
  one.notes = {{"density", density / 100}};
  one.contenders = {"auto",     "single_columns", "rows",  "segments", "shared_tiles",
                    "cusparse", "kokkos-kernels", "eigen", "mkl"};
  return one;
}

}  // namespace

Study casper(Scope const& scope) {
  Study study;
  study.name = "casper";
  study.title = "Wide, square and tall products";
  study.reproduces =
      "The scenarios of the CASPER kernels: rows of between half of K S / 100 and K S / 100 "
      "nonzeros, drawn on the device; N large (wide), M, K and N growing together (square), M "
      "large (tall), N divisible by 4 and not.";
  study.table = {{"M x K", "matrix"},
                 {"type", "scalar"},
                 {"N", "columns"},
                 {"min", "min:auto"},
                 {"max", "max:auto"},
                 {"mean", "mean:auto"},
                 {"it ran", "ran:auto"},
                 {"GFLOP/s", "gflops:auto"},
                 {"GB/s", "gbytes:auto"},
                 {"error", "error:auto"},
                 {"best variant", "ms:blockspan"},
                 {"which", "who:blockspan"},
                 {"cuSPARSE", "ms:cusparse"},
                 {"which", "who:cusparse"},
                 {"over cuSPARSE", "speedup:auto:cusparse"},
                 {"over Kokkos Kernels", "speedup:auto:kokkos-kernels"}};
  study.plots = {{.name = "gflops",
                  .title = "GFLOP/s",
                  .x = "number",
                  .curves = {{"Blockspan", "gflops:auto"},
                             {"cuSPARSE", "gflops:cusparse"},
                             {"Kokkos Kernels", "gflops:kokkos-kernels"}},
                  .y = "GFLOP/s"}};
  study.summaries = {
      {"Geometric mean of the speed-up over cuSPARSE", "geomean:auto:cusparse", ""},
      {"Geometric mean of the speed-up over Kokkos Kernels", "geomean:auto:kokkos-kernels", ""}};
  auto const add = [&](std::string const& group, std::int64_t m, std::int64_t k, double density,
                       int n) {
    study.cases.push_back(scenario(group, m, k, density, n, scope.quick));
  };
  if (scope.quick) {
    add("wide", 64, 64, 5, 66);
    add("square", 128, 128, 5, 128);
    add("tall", 4096, 64, 5, 7);
    return study;
  }
  for (double const density : {1.0, 5.0}) {
    for (int const n : {256, 257, 1024, 1026, 4096}) add("wide", 2048, 2048, density, n);
    for (int const n : {512, 1022, 1024, 2047, 2048, 4096}) add("square", n, n, density, n);
    for (std::int64_t const m : {1 << 14, 1 << 16, 1 << 18, 1 << 20})
      for (int const n : {32, 33}) add("tall", m, 1024, density, n);
  }
  return study;
}

}  // namespace blockspan::perf
