#pragma once

#include <stdexcept>
#include <string>

#include <blockspan.h>

namespace blockspan::capi {

/// A failure that has a code of its own.
class Coded : public std::runtime_error {
 public:
  Coded(blockspan_code code, std::string const& text) : std::runtime_error(text), code_(code) {}
  blockspan_code code() const { return code_; }

 private:
  blockspan_code code_;
};

/// Throws Coded for what this build is without.
[[noreturn]] void not_built(std::string const& text);

/// The code and, for blockspan_last_error, the text of the exception at work; of success without.
blockspan_code failed() noexcept;
blockspan_code succeeded() noexcept;
char const* last_error() noexcept;

/// f() as a code: no exception leaves the library.
template <class Function>
blockspan_code guarded(Function const& f) noexcept {
  try {
    f();
  } catch (...) {
    return failed();
  }
  return succeeded();
}

/// Writes text into the caller's memory, as blockspan_configuration says.
void give_text(std::string const& text, char* out, std::size_t capacity, std::size_t* needed);

}  // namespace blockspan::capi
