#include "common/machine/versions.hpp"

#include <KokkosKernels_config.h>
#include <Kokkos_Core.hpp>

#include "common/machine/backends.hpp"

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

}  // namespace blockspan::apps
