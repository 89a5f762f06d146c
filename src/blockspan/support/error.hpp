#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <blockspan/support/rooms.hpp>

namespace blockspan {

/// Bad input: what is wrong, where, and the offending values, in one line. Or an allocation that
/// failed (memory.hpp).
///
/// Numerical difficulties are never thrown; they are a status in a solver's report.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error("where: part part ...").
template <class... Parts>
[[noreturn]] void fail(std::string_view where, Parts const&... parts) {
  std::ostringstream message;
  message << where << ": ";
  (message << ... << parts);
  throw Error(message.str());
}

/// Throws like fail() unless `condition` holds.
template <class... Parts>
void require(bool condition, std::string_view where, Parts const&... parts) {
  if (!condition) fail(where, parts...);
}

}  // namespace blockspan
