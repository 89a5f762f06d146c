#include "studies/folder.hpp"
#include "studies/studies.hpp"

namespace blockspan::perf {

Study collection(Scope const& scope) {
  Study study;
  study.name = "collection";
  study.title = "Every matrix of a folder";
  study.reproduces =
      "All Matrix Market files in BLOCKSPAN_MATRIX_DIR (those of this project's runs are from the "
      "SuiteSparse Matrix Collection: Davis, Hu 2011, doi:10.1145/2049662.2049663), at all widths.";
  study.note = folder_note();
  study.table = usual_table();
  study.summaries = {
      {"Geometric mean of the speed-up over cuSPARSE", "geomean:auto:cusparse", ""},
      {"Its least", "least:auto:cusparse", ""},
      {"Its peak", "peak:auto:cusparse", ""},
      {"Geometric mean of the speed-up over Kokkos Kernels", "geomean:auto:kokkos-kernels", ""}};
  std::vector<int> const widths =
      scope.quick ? std::vector{1, 8} : std::vector{1, 2, 4, 8, 16, 32, 64};
  for (std::string const& file : matrices_in_folder(scope.quick ? 3 : -1))
    for (int const n : widths)
      study.cases.push_back({.group = std::string("n = ").append(std::to_string(n)),
                             .file = file,
                             .scalar = scalar_of(scope, file),
                             .columns = n,
                             .contenders = {"auto", "cusparse", "kokkos-kernels", "eigen", "mkl"}});
  return study;
}

}  // namespace blockspan::perf
