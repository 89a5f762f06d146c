#pragma once

#include <string>

#include "common/device.hpp"
#include "common/json_document.hpp"
#include "common/versions.hpp"

namespace blockspan::apps {

/// Members: blockspan, kokkos, kokkos_kernels.
Json to_json(Versions const& versions);

/// Members: name of the accelerator (null on the host), threads (null on an accelerator).
Json to_json(Device const& device);

/// null where the text is empty: an option that was not given, say.
Json text_or_null(std::string const& text);

}  // namespace blockspan::apps
