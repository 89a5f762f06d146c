#include <algorithm>
#include <cmath>
#include <string>

#include "studies/folder.hpp"
#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

std::vector<std::string> const split_or_merge{"auto", "row_split", "merge", "cusparse"};

/// Equally many nonzeros in few long or many short rows.
void add_aspects(Study& study, bool quick) {
  int const nonzeros = quick ? 1 << 14 : 1 << 24;
  for (int const n : {1, 64})
    for (int rows = 2; rows <= nonzeros / 2; rows *= quick ? 64 : 4) {
      int const length = nonzeros / rows;
      study.cases.push_back({.group = n == 1 ? "aspect n = 1" : "aspect n = 64",
                             .spec = spec_of("fixed", rows, std::max(rows, length), length),
                             .scalar = quick ? "f64" : "f32",
                             .columns = n,
                             .notes = {{"aspect", static_cast<double>(rows) / length}},
                             .contenders = split_or_merge});
    }
}

/// From hardly any to many nonzeros, against the dense product.
void add_fills(Study& study, bool quick) {
  int const size = quick ? 400 : 100000;
  for (double const fill : {0.001, 0.003, 0.01, 0.03, 0.06, 0.09, 0.12}) {
    if (quick && fill != 0.01 && fill != 0.12) continue;
    study.cases.push_back({.group = "fill",
                           .spec = spec_of("fixed", size, size, std::round(fill * size)),
                           .scalar = quick ? "f64" : "f32",
                           .columns = quick ? 8 : 64,
                           .notes = {{"fill", fill}},
                           .contenders = {"auto", "row_split", "merge", "dense", "cusparse"}});
  }
}

/// The columns and curves of the page.
void lay_out_split_vs_merge(Study& study) {
  study.table = {{"matrix", "matrix"},
                 {"n", "columns"},
                 {"nonzeros a row", "mean"},
                 {"row split", "ms:row_split"},
                 {"merge", "ms:merge"},
                 {"the rule says", "rule"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"dense", "ms:dense"},
                 {"cuSPARSE", "ms:cusparse"},
                 {"which", "who:cusparse"},
                 {"rule over cuSPARSE", "speedup:rule:cusparse"},
                 {"auto over cuSPARSE", "speedup:auto:cusparse"}};
  study.plots = {{.name = "aspect",
                  .title = "Aspect ratio",
                  .x = "note:aspect",
                  .curves = {{"row split", "gflops:row_split"},
                             {"merge", "gflops:merge"},
                             {"auto", "gflops:auto"},
                             {"cuSPARSE", "gflops:cusparse"}},
                  .log_x = true,
                  .log_y = true,
                  .y = "GFLOP/s"},
                 {.name = "fill",
                  .title = "Fill",
                  .x = "note:fill",
                  .curves = {{"row split", "ms:row_split"},
                             {"merge", "ms:merge"},
                             {"auto", "ms:auto"},
                             {"dense", "ms:dense"},
                             {"cuSPARSE", "ms:cusparse"}},
                  .log_x = true,
                  .log_y = true,
                  .y = "ms"}};
}

}  // namespace

Study row_split_vs_merge(Scope const& scope) {
  Study study;
  study.name = "row_split_vs_merge";
  study.title = "Row split against merge path, and against the dense product";
  study.reproduces =
      "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48: the sweep of aspect "
      "ratios, the rule of 9.35 nonzeros a row on a collection of matrices, the fill at which a "
      "dense product wins.";
  study.note = folder_note();
  lay_out_split_vs_merge(study);
  study.summaries = {
      {"The rule names the faster of row split and merge", "accuracy:rule", "99.3 %"},
      {"Geometric mean of the rule's speed-up over the best cuSPARSE", "geomean:rule:cusparse",
       "1.317 over csrmm2"},
      {"Its peak", "peak:rule:cusparse", "4.1 over csrmm2"},
      {"Geometric mean of auto's speed-up over the best cuSPARSE", "geomean:auto:cusparse", ""},
      {"Fill from which the dense product is faster than the rule's", "crossover:rule:dense",
       "9 %"},
      {"Fill from which it is faster than auto", "crossover:auto:dense", ""}};
  add_aspects(study, scope.quick);
  auto const files = matrices_in_folder(scope.quick ? 2 : -1);
  for (std::string const& file : files)
    study.cases.push_back({.group = "collection",
                           .file = file,
                           .scalar = scalar_of(scope, file),
                           .columns = scope.quick ? 8 : 64,
                           .contenders = split_or_merge});
  add_fills(study, scope.quick);
  return study;
}

}  // namespace blockspan::perf
