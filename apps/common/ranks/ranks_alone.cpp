#include <cstdlib>
#include <string>

#include <blockspan/support/error.hpp>

#include "common/machine/components.hpp"
#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

struct Ranks::State {
  Communicator self;
};

Ranks::Ranks(int&, char**&) : state_(std::make_unique<State>()) {
  for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (char const* const size = std::getenv(name))
      require(std::string(size) == "1", "ranks", left_out("mpi"));
}
Ranks::~Ranks() = default;
Communicator const& Ranks::world() const { return state_->self; }

}  // namespace blockspan::apps
