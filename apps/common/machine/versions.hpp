#pragma once

#include <string>

namespace blockspan::apps {

/// Versions of what this build is made of, such as "4.7.0".
struct Versions {
  std::string blockspan, kokkos, kokkos_kernels;
  std::string openblas;  ///< "0.3.21 (Zen)", with whose kernels it runs; empty: the BLAS is another
};

Versions versions();

/// Empty, or that OpenBLAS runs the kernels it has for any x86-64 though this processor has AVX2
/// and FMA, and what makes it use these: it does so where it is older than the processor.
std::string slow_blas();

}  // namespace blockspan::apps
