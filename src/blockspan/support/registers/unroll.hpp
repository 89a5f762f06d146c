#pragma once

#include <blockspan/support/rooms.hpp>

/// Before a loop of a few steps whose arrays must stay in registers. Host compilers know the pragma
/// under other names and do not need it here. The others stand before loops that compilers unroll
/// further than their code is worth.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BLOCKSPAN_UNROLL _Pragma("unroll")
#define BLOCKSPAN_UNROLL_TWICE _Pragma("unroll 2")
#define BLOCKSPAN_ROLLED _Pragma("unroll 1")
#else
#define BLOCKSPAN_UNROLL
#define BLOCKSPAN_UNROLL_TWICE
#define BLOCKSPAN_ROLLED
#endif

/// Before a loop of a host: no turn reads what another writes, which compilers cannot see of blocks
/// that might overlap.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BLOCKSPAN_INDEPENDENT
#elif defined(__clang__)
#define BLOCKSPAN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define BLOCKSPAN_INDEPENDENT _Pragma("GCC ivdep")
#else
#define BLOCKSPAN_INDEPENDENT
#endif
