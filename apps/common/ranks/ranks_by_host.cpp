#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

Communicator with_device_transport(Communicator const& ranks) { return ranks; }

}  // namespace blockspan::apps
