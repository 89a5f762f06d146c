#pragma once

#include <algorithm>
#include <cstring>

#include <blockspan/support/error.hpp>

#include <blockspan.h>

namespace blockspan::capi {

// The default options, with `size` set.
blockspan_context_options context_defaults();
blockspan_preconditioner_options preconditioner_defaults();
blockspan_lobpcg_options lobpcg_defaults();
blockspan_cg_options cg_defaults();
blockspan_exact_options exact_defaults();

/// Whether `size` is plausible for some version; an uninitialized value mostly is not.
inline bool is_size(std::size_t size) { return size >= sizeof size && size <= 4096; }

/// Fills the caller's struct, which may be of a newer or older version.
template <class Options>
void give_defaults(char const* where, Options* given, std::size_t size, Options defaults) {
  require(given != nullptr, where, "options is NULL");
  require(is_size(size), where, "size ", size, " is not sizeof *options");
  defaults.size = size;
  std::memset(given, 0, size);
  std::memcpy(given, &defaults, std::min(size, sizeof defaults));
}

/// The caller's options; fields missing in an older struct have their defaults. Throws Error if a
/// newer struct sets a field that this library does not know.
template <class Options>
Options taken(char const* where, Options const* given, Options defaults) {
  if (given == nullptr) return defaults;
  std::size_t const size = given->size;
  require(is_size(size), where, "options.size ", size,
          " is not sizeof of the struct: call the _defaults function first");
  auto const* const bytes = reinterpret_cast<unsigned char const*>(given);
  for (std::size_t i = sizeof defaults; i < size; ++i)
    require(bytes[i] == 0, where, "byte ", i,
            " of options is set, which this version of the library does not know");
  std::memcpy(&defaults, given, std::min(size, sizeof defaults));
  return defaults;
}

/// Writes the fields that fit the caller's struct; does nothing for null.
void give_summary(char const* where, blockspan_summary const& full, blockspan_summary* out);
/// Throws Error, before a solve, if the summary could not be written at its end.
void require_summary(char const* where, blockspan_summary const* out);

}  // namespace blockspan::capi
