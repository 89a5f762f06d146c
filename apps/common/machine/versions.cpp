#include "common/machine/versions.hpp"

#include <string_view>

#include <KokkosKernels_config.h>
#include <Kokkos_Core.hpp>

#include "common/machine/backends.hpp"

#if defined(__x86_64__)
// Null where the BLAS is another.
extern "C" __attribute__((weak)) char* openblas_get_corename();
#endif

namespace blockspan::apps {

namespace {

/// Kokkos writes 4.7.2 as 40702.
std::string dotted(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

Versions versions() {
  return {blockspan_version, dotted(KOKKOS_VERSION), dotted(KOKKOSKERNELS_VERSION)};
}

std::string slow_blas() {
#if defined(__x86_64__)
  std::string_view constexpr any = "Prescott";
  if (openblas_get_corename != nullptr && openblas_get_corename() == any &&
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return "OpenBLAS does not know this processor and runs its slowest kernels: dense work takes "
           "half of the time with OPENBLAS_CORETYPE=Haswell in the environment";
#endif
  return {};
}

}  // namespace blockspan::apps
