#pragma once

namespace blockspan::detail {

/// Where the lanes of a team thread keep entries that they have read together: nowhere, every lane
/// reads every entry for itself. (Those of the published kernels: published/detail/stage.hpp.)
struct NoStage {};

}  // namespace blockspan::detail
