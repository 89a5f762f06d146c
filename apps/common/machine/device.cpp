#include "common/machine/device.hpp"

namespace blockspan::apps {

std::string in_words(Device const& device) {
  if (device.threads == 0) return device.backend + ", " + device.name;
  return device.backend + ", " + std::to_string(device.threads) +
         (device.threads == 1 ? " thread" : " threads");
}

}  // namespace blockspan::apps
