#include "spmm/result.hpp"

#include <algorithm>

namespace blockspan::perf {

KernelResult const* CaseResult::best(std::string const& family) const {
  KernelResult const* fastest = nullptr;
  for (KernelResult const& kernel : kernels) {
    bool const chosen = kernel.id.rfind("auto", 0) == 0;
    if (kernel.family != family || chosen || !kernel.times) continue;
    if (fastest == nullptr || kernel.times->median < fastest->times->median) fastest = &kernel;
  }
  return fastest;
}

KernelResult const* CaseResult::find(std::string const& id) const {
  auto const at = std::find_if(kernels.begin(), kernels.end(),
                               [&](KernelResult const& kernel) { return kernel.id == id; });
  return at == kernels.end() ? nullptr : &*at;
}

int CaseResult::wrong() const {
  return static_cast<int>(std::count_if(kernels.begin(), kernels.end(),
                                        [](KernelResult const& k) { return k.wrong(); }));
}

}  // namespace blockspan::perf
