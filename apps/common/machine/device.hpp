#pragma once

#include <string>

namespace blockspan::apps {

/// The device of a run.
struct Device {
  std::string backend;
  std::string name;  ///< of the accelerator; empty on the host
  int threads = 0;   ///< of the host backend; 0 on an accelerator
};

/// "cuda, NVIDIA H200" or "openmp, 8 threads".
std::string in_words(Device const& device);

}  // namespace blockspan::apps
