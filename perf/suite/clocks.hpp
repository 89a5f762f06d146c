#pragma once

#include <ctime>
#include <string>

#include "common/files/json_document.hpp"

namespace blockspan::perf {

/// What the machine's clocks do now, as far as it can be read: when (UTC); on CUDA, by nvidia-smi,
/// sm_mhz, memory_mhz, temperature and throttled (a power cap, heat, a slowdown); on hosts
/// cpu_mhz (mean of all cores) and load (processes that run or want to).
apps::Json read_clocks();

/// A date and time, UTC, as "2026-01-31T12:00:00Z"; and what it is now.
std::string utc(std::time_t seconds);
std::string now_utc();

}  // namespace blockspan::perf
