#pragma once

#include <string>

namespace blockspan::apps {

/// Versions of what this build is made of, such as "4.7.0".
struct Versions {
  std::string blockspan, kokkos, kokkos_kernels;
};

Versions versions();

}  // namespace blockspan::apps
