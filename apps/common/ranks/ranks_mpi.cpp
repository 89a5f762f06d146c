#include <iostream>

#include <blockspan/communication/mpi.hpp>

#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

struct Ranks::State {
  State(int& argc, char**& argv) : mpi(argc, argv) {}
  MpiScope mpi;
};

Ranks::Ranks(int& argc, char**& argv) : state_(std::make_unique<State>(argc, argv)) {
  if (world().rank() > 0) std::cout.rdbuf(nullptr);
}
Ranks::~Ranks() = default;
Communicator const& Ranks::world() const { return state_->mpi.world(); }

}  // namespace blockspan::apps
