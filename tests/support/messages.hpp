#pragma once

#include <string>

#include <blockspan/support/error.hpp>

namespace blockspan::test {

/// What the Error that `f` throws says.
template <class Function>
std::string message_of(Function const& f) {
  try {
    f();
  } catch (Error const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace blockspan::test
