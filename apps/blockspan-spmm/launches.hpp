#pragma once

#include <functional>
#include <string>
#include <vector>

namespace blockspan::apps {

/// Calls `work` and returns the labels of the kernels it launched, as Kokkos Tools sees them, in
/// order. A tool that is loaded sees nothing of this call.
std::vector<std::string> launches_of(std::function<void()> const& work);

/// The kernel of Blockspan that multiplied, without the prefix "Blockspan::spmm::": what the plan
/// said if it was launched, else the first product that was (blocks that are not row-major may take
/// another one); the plan's word if nothing was launched.
std::string kernel_that_ran(std::string const& said, std::vector<std::string> const& launches);

}  // namespace blockspan::apps
