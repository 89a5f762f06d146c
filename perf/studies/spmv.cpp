#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

/// A matrix of the papers and its substitute where its file is absent: the published number of rows
/// and columns, nearly as many nonzeros, rows of a similar profile, distributed differently.
struct Published {
  char const* file;
  char const* substitute;
  std::int64_t rows, columns, nonzeros;
};

constexpr Published matrices[] = {
    {"1138_bus", "hypersparse:1138x1138:3.562", 1138, 1138, 4054},
    {"bcsstk15", "banded:3948:14", 3948, 3948, 117816},
    {"bcsstk31", "banded:35588:16", 35588, 35588, 1181416},
    {"pwtk", "banded:217918:26", 217918, 217918, 11524432},
    {"cage15", "uniform:5154859x5154859:0.000498", 5154859, 5154859, 99199551},
    {"heart1", "uniform:3557x3557:14.6", 3557, 3557, 1385317},
    {"relat8", "hypersparse:345688x12347:3.859", 345688, 12347, 1334038},
    {"connectus", "wide:512x394792:2202.2", 512, 394792, 1127525}};

}  // namespace

Study spmv(Scope const& scope) {
  Study study;
  study.name = "spmv";
  study.title = "One column: thread per row, balanced, adaptive, prefix sums";
  study.reproduces =
      "The comparison of SpMV kernels on matrices of the SuiteSparse Matrix Collection (Flegar, "
      "Quintana-Orti 2017; Daga, Greathouse 2015; Liu, Vinter 2015; Merrill, Garland 2016) against "
      "cuSPARSE.";
  study.note =
      "A matrix that BLOCKSPAN_MATRIX_DIR lacks is replaced by a generated one of its published "
      "shape; the column \"measured\" says which was used.";
  study.table = {{"matrix", "matrix"},
                 {"measured", "source"},
                 {"rows", "rows"},
                 {"nonzeros", "nonzeros"},
                 {"published nonzeros", "note:published.nonzeros"},
                 {"thread per row", "ms:thread_per_row"},
                 {"balanced", "ms:balanced"},
                 {"adaptive", "ms:adaptive"},
                 {"prefix sum", "ms:prefix_sum"},
                 {"merge", "ms:merge"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"cuSPARSE", "ms:cusparse"},
                 {"which", "who:cusparse"},
                 {"Kokkos Kernels", "ms:kokkos-kernels"},
                 {"GFLOP/s", "gflops:auto"},
                 {"over cuSPARSE", "speedup:auto:cusparse"},
                 {"over Kokkos Kernels", "speedup:auto:kokkos-kernels"}};
  study.plots = {{.name = "gflops",
                  .title = "SpMV",
                  .x = "number",
                  .curves = {{"thread per row", "gflops:thread_per_row"},
                             {"balanced", "gflops:balanced"},
                             {"adaptive", "gflops:adaptive"},
                             {"prefix sum", "gflops:prefix_sum"},
                             {"auto", "gflops:auto"},
                             {"cuSPARSE", "gflops:cusparse"}},
                  .y = "GFLOP/s"}};
  study.summaries = {{"Geometric mean of the speed-up over cuSPARSE", "geomean:auto:cusparse", ""}};
  for (Published const& one : matrices) {
    if (scope.quick && one.nonzeros > 200000) continue;
    study.cases.push_back(
        {.group = "spmv",
         .spec = one.substitute,
         .file = one.file,
         .notes = {{"published",
                    {{"rows", one.rows}, {"columns", one.columns}, {"nonzeros", one.nonzeros}}}}});
  }
  return study;
}

}  // namespace blockspan::perf
