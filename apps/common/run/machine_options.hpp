#pragma once

#include <string>

namespace blockspan::apps {

/// Options of every solver app: --backend, --spmm, --partition, --report and --quiet.
struct MachineOptions {
  std::string backend = "auto";          ///< auto, cuda, openmp, serial
  std::string spmm = "blockspan";        ///< blockspan, an id of its menu, kokkos-kernels, cusparse
  std::string partition = "contiguous";  ///< of rows over ranks: also rcm, bricks, metis, scotch
  std::string report;                    ///< file for the report; empty: none
  bool quiet = false;
};

}  // namespace blockspan::apps
