#pragma once

#include <memory>
#include <string>

#include "operator.hpp"

namespace blockspan::capi {

/// Initializes Kokkos unless it is running. ranks: nullopt for one process. Throws if this build or
/// the running Kokkos does not support the options.
std::shared_ptr<Context> make_context(blockspan_context_options const& options,
                                      std::optional<Communicator> ranks);

/// The text of blockspan_configuration.
std::string configuration();

}  // namespace blockspan::capi
