#pragma once

#include <string>

#include "spmm/result.hpp"
#include "studies/study.hpp"
#include "suite/script.hpp"

namespace blockspan::perf {

/// The kernels of a case under Nsight Compute, by profile_ncu.py: throughput of the memory, hit
/// rates, occupancy, instructions, as members of the kernels' entries. Refused, in words, where
/// this is not CUDA or there is no ncu.
CaseResult measure_profile(Case const& one, std::string const& source, Scripts const& scripts);

}  // namespace blockspan::perf
