#pragma once

#include <string>

namespace blockspan::apps {

/// Options of every solver app: --backend, --spmm, --report and --quiet.
struct MachineOptions {
  std::string backend = "auto";    ///< auto, cuda, openmp, serial
  std::string spmm = "blockspan";  ///< blockspan, an id of its menu, kokkos-kernels, cusparse
  std::string report;              ///< file for the report; empty: none
  bool quiet = false;
};

}  // namespace blockspan::apps
