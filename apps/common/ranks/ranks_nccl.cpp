#include <blockspan/communication/nccl.hpp>

#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

Communicator with_device_transport(Communicator const& ranks) {
  return each_has_a_device(ranks) ? nccl_communicator(ranks) : ranks;
}

}  // namespace blockspan::apps
