#pragma once

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <blockspan/support/rooms.hpp>

namespace blockspan {

/// What an Error is about, for callers that react to it.
enum class ErrorKind {
  input,         ///< bad input, and all that is neither of the others
  not_definite,  ///< the method needs a positive definite or semidefinite matrix; this is none
  out_of_memory  ///< an allocation failed (memory.hpp)
};

/// Bad input: what is wrong, where, and the offending values, in one line. Or an allocation that
/// failed.
///
/// Numerical difficulties of a solve are never thrown; they are a status in its report.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string const& text, ErrorKind kind = ErrorKind::input)
      : std::runtime_error(text), kind_(kind) {}

  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The shortest decimal that is the value: shifts and ends of intervals that differ look different.
inline std::string in_full(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Throws Error("where: part part ...", kind).
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, std::string_view where, Parts const&... parts) {
  std::ostringstream message;
  message << where << ": ";
  (message << ... << parts);
  throw Error(message.str(), kind);
}

template <class... Parts>
[[noreturn]] void fail(std::string_view where, Parts const&... parts) {
  fail(ErrorKind::input, where, parts...);
}

/// Throws like fail() unless `condition` holds.
template <class... Parts>
void require(bool condition, std::string_view where, Parts const&... parts) {
  if (!condition) fail(where, parts...);
}

}  // namespace blockspan
