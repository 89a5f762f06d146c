#pragma once

#include <blockspan/support/rooms.hpp>

/// Before a loop of a few iterations whose arrays must stay in registers. Host compilers have other
/// names for the pragma and do not need it here. UNROLL_TWICE and ROLLED limit loops that compilers
/// unroll too far.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BLOCKSPAN_UNROLL _Pragma("unroll")
#define BLOCKSPAN_UNROLL_TWICE _Pragma("unroll 2")
#define BLOCKSPAN_ROLLED _Pragma("unroll 1")
#else
#define BLOCKSPAN_UNROLL
#define BLOCKSPAN_UNROLL_TWICE
#define BLOCKSPAN_ROLLED
#endif

/// Before a loop on the host whose iterations are independent: compilers cannot see that blocks do
/// not overlap.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BLOCKSPAN_INDEPENDENT
#elif defined(__clang__)
#define BLOCKSPAN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define BLOCKSPAN_INDEPENDENT _Pragma("GCC ivdep")
#else
#define BLOCKSPAN_INDEPENDENT
#endif
