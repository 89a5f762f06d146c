#include "errors.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <blockspan/support/error.hpp>

namespace blockspan::capi {

namespace {

thread_local std::string text_of_thread;

blockspan_code say(blockspan_code code, char const* text) noexcept {
  try {
    text_of_thread = text;
  } catch (...) {
    text_of_thread.clear();
  }
  return code;
}

blockspan_code code_of(ErrorKind kind) {
  if (kind == ErrorKind::out_of_memory) return BLOCKSPAN_OUT_OF_MEMORY;
  return kind == ErrorKind::not_definite ? BLOCKSPAN_NOT_DEFINITE : BLOCKSPAN_BAD_INPUT;
}

}  // namespace

void not_built(std::string const& text) { throw Coded(BLOCKSPAN_NOT_BUILT, text); }

blockspan_code failed() noexcept {
  try {
    throw;
  } catch (Coded const& error) {
    return say(error.code(), error.what());
  } catch (std::bad_alloc const&) {
    return say(BLOCKSPAN_OUT_OF_MEMORY, "blockspan: out of memory of the host");
  } catch (Error const& error) {
    return say(code_of(error.kind()), error.what());
  } catch (std::exception const& error) {
    return say(BLOCKSPAN_INTERNAL, error.what());
  } catch (...) {
    return say(BLOCKSPAN_INTERNAL, "an exception that is no std::exception");
  }
}

blockspan_code succeeded() noexcept {
  text_of_thread.clear();
  return BLOCKSPAN_OK;
}

char const* last_error() noexcept { return text_of_thread.c_str(); }

void give_text(std::string const& text, char* out, std::size_t capacity, std::size_t* needed) {
  if (needed) *needed = text.size() + 1;
  if (!out || capacity == 0) return;
  std::size_t const length = std::min(text.size(), capacity - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

}  // namespace blockspan::capi
