#pragma once

#include <optional>
#include <string>

#include <blockspan/multigrid/options.hpp>

#include "common/files/json_document.hpp"
#include "common/machine/device.hpp"
#include "common/machine/versions.hpp"
#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

/// Members: blockspan, kokkos, kokkos_kernels.
Json to_json(Versions const& versions);

/// Members: name of the accelerator (null on the host), threads (null on an accelerator).
Json to_json(Device const& device);

/// Members: transport, and lists of rows, nonzeros, halo rows and neighbours, one a rank; null
/// where one process did all.
Json to_json(RanksReport const& ranks);

/// Status, message, complexity, Ritz values and the levels; null where there are none.
Json to_json(std::optional<MultigridReport> const& multigrid);

/// null where the text is empty: an option that was not given, say.
Json text_or_null(std::string const& text);

}  // namespace blockspan::apps
