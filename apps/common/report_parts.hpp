#pragma once

#include "common/device.hpp"
#include "common/json_document.hpp"
#include "common/versions.hpp"

namespace blockspan::apps {

/// Members: blockspan, kokkos, kokkos_kernels.
Json to_json(Versions const& versions);

/// Members: name of the accelerator (null on the host), threads (null on an accelerator).
Json to_json(Device const& device);

}  // namespace blockspan::apps
