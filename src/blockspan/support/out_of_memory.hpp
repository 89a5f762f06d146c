#pragma once

#include <blockspan/support/error.hpp>

namespace blockspan {

/// The Error of a failed allocation (memory.hpp), for callers that distinguish it from bad input.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

}  // namespace blockspan
