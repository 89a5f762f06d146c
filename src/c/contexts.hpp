#pragma once

#include <memory>
#include <string>

#include "operator.hpp"

namespace blockspan::capi {

/// Starts Kokkos where nobody has. ranks: null for one process. Throws where the options ask for
/// what this build or the running Kokkos is without.
std::shared_ptr<Context> make_context(blockspan_context_options const& options,
                                      std::optional<Communicator> ranks);

/// What blockspan_configuration says.
std::string configuration();

}  // namespace blockspan::capi
