#include "studies/studies.hpp"

#include <algorithm>
#include <array>

#include <blockspan/support/error.hpp>

namespace blockspan::perf {

namespace {

constexpr std::array<StudyEntry, 14> known_studies{{{"casper", casper},
                                                    {"spmv", spmv},
                                                    {"coalescing", coalescing},
                                                    {"variants", variants},
                                                    {"roofline", roofline},
                                                    {"widths", widths},
                                                    {"forms", forms},
                                                    {"scaling", scaling},
                                                    {"solvers", solvers},
                                                    {"multigrid", multigrid},
                                                    {"families", families},
                                                    {"regrets", regrets},
                                                    {"collection", collection},
                                                    {"cases", cases}}};

}  // namespace

std::span<StudyEntry const> all_studies() { return known_studies; }

std::vector<StudyEntry> choose_studies(std::vector<std::string> const& names) {
  if (names.empty()) return {known_studies.begin(), known_studies.end()};
  std::vector<StudyEntry> chosen;
  for (std::string const& name : names) {
    auto const at = std::find_if(known_studies.begin(), known_studies.end(),
                                 [&](StudyEntry const& entry) { return name == entry.name; });
    require(at != known_studies.end(), name,
            "is neither a study (see --list) nor a generator spec");
    chosen.push_back(*at);
  }
  return chosen;
}

std::vector<Column> usual_table() {
  return {{"matrix", "matrix"},
          {"type", "scalar"},
          {"n", "columns"},
          {"nonzeros", "nonzeros"},
          {"floor", "floor"},
          {"auto", "ms:auto"},
          {"it ran", "ran:auto"},
          {"best variant", "ms:blockspan"},
          {"which", "who:blockspan"},
          {"cuSPARSE", "ms:cusparse"},
          {"which", "who:cusparse"},
          {"Kokkos Kernels", "ms:kokkos-kernels"},
          {"Eigen", "ms:eigen"},
          {"MKL", "ms:mkl"},
          {"GFLOP/s", "gflops:auto"},
          {"GB/s", "gbytes:auto"},
          {"over cuSPARSE", "speedup:auto:cusparse"},
          {"over Kokkos Kernels", "speedup:auto:kokkos-kernels"}};
}

}  // namespace blockspan::perf
