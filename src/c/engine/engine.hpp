#pragma once

#include "../operator.hpp"

namespace blockspan::capi {

/// The engine of a scalar and a backend, compiled in a unit of its own (engine.cpp.in).
template <class Scalar, class Exec>
Engine const& compiled_engine();

}  // namespace blockspan::capi
