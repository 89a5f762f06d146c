#include "common/machine/versions.hpp"

#include <sstream>

#include <KokkosKernels_config.h>
#include <Kokkos_Core.hpp>

#include "common/machine/backends.hpp"

// Null where the BLAS is another.
extern "C" {
__attribute__((weak)) char* openblas_get_corename();
__attribute__((weak)) char* openblas_get_config();
}

namespace blockspan::apps {

namespace {

/// Kokkos writes 4.7.2 as 40702.
std::string dotted(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// Whose kernels OpenBLAS runs; empty: the BLAS is another.
std::string core_of_openblas() {
  return openblas_get_corename == nullptr ? "" : openblas_get_corename();
}

std::string openblas() {
  std::string const core = core_of_openblas();
  if (core.empty() || openblas_get_config == nullptr) return core;
  std::string name, version;
  std::istringstream(openblas_get_config()) >> name >> version;
  return version + " (" + core + ")";
}

}  // namespace

Versions versions() {
  return {blockspan_version, dotted(KOKKOS_VERSION), dotted(KOKKOSKERNELS_VERSION), openblas()};
}

std::string slow_blas() {
#if defined(__x86_64__)
  if (core_of_openblas() == "Prescott" && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    return "OpenBLAS does not know this processor and runs its slowest kernels: dense work takes "
           "half of the time with OPENBLAS_CORETYPE=Haswell in the environment";
#endif
  return {};
}

}  // namespace blockspan::apps
