#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

namespace blockspan::test {

/// A kernel as Kokkos Tools sees it.
struct Launch {
  std::string label;
  std::uint32_t instance;
};
namespace recorded {
inline std::vector<Launch> launches;

inline void record(char const* label, std::uint32_t instance, std::uint64_t* kernel) {
  launches.push_back({label, instance});
  *kernel = 0;
}

}  // namespace recorded

/// What `f` launches.
template <class Function>
std::vector<Launch> launches_of(Function const& f) {
  namespace tools = Kokkos::Tools::Experimental;
  auto const before = tools::get_callbacks();
  recorded::launches.clear();
  tools::set_begin_parallel_for_callback(recorded::record);
  tools::set_begin_parallel_reduce_callback(recorded::record);
  tools::set_begin_parallel_scan_callback(recorded::record);
  f();
  tools::set_callbacks(before);
  return std::exchange(recorded::launches, {});
}

}  // namespace blockspan::test
