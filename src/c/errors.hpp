#pragma once

#include <stdexcept>
#include <string>

#include <blockspan.h>

namespace blockspan::capi {

/// An exception with its own error code.
class Coded : public std::runtime_error {
 public:
  Coded(blockspan_code code, std::string const& text) : std::runtime_error(text), code_(code) {}
  blockspan_code code() const { return code_; }

 private:
  blockspan_code code_;
};

/// Throws Coded for a feature that this build does not have.
[[noreturn]] void not_built(std::string const& text);

/// Stores the text of the current exception, or none, for blockspan_last_error; returns the code.
blockspan_code failed() noexcept;
blockspan_code succeeded() noexcept;
char const* last_error() noexcept;

/// Calls f() and returns its error code: no exception leaves the library.
template <class Function>
blockspan_code guarded(Function const& f) noexcept {
  try {
    f();
  } catch (...) {
    return failed();
  }
  return succeeded();
}

/// Copies text to the caller's buffer, as documented at blockspan_configuration.
void give_text(std::string const& text, char* out, std::size_t capacity, std::size_t* needed);

}  // namespace blockspan::capi
