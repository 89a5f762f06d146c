#pragma once

#include <algorithm>
#include <cstdlib>

#include <Kokkos_Core.hpp>

#if defined(_OPENMP)
#include <blockspan/support/rooms.hpp>

#include <omp.h>
#endif

namespace blockspan {

/// Kokkos 5 keeps OpenMP threads in a table of this size, and writes beyond its end where
/// OMP_NUM_THREADS, KOKKOS_NUM_THREADS or the machine has more.
inline constexpr int most_host_threads = 512;

/// Settings for Kokkos::initialize: no warnings, and at most most_host_threads threads.
inline Kokkos::InitializationSettings host_settings() {
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  int wanted = 0;
#if defined(_OPENMP)
  wanted = omp_get_max_threads();
#endif
  if (char const* const text = std::getenv("KOKKOS_NUM_THREADS"))
    wanted = std::max(wanted, std::atoi(text));
  if (wanted > most_host_threads) settings.set_num_threads(most_host_threads);
  return settings;
}

}  // namespace blockspan
