#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/counters.hpp"

namespace blockspan::test {

/// The folder of real matrices: the environment's BLOCKSPAN_MATRIX_DIR, else the one given at
/// compile time, else none. Tests that need it skip where it is absent.
inline std::optional<std::filesystem::path> matrix_dir() {
  std::filesystem::path directory;
  if (char const* const given = std::getenv("BLOCKSPAN_MATRIX_DIR")) directory = given;
#ifdef BLOCKSPAN_MATRIX_DIR
  else
    directory = BLOCKSPAN_MATRIX_DIR;
#endif
  std::error_code error;
  if (directory.empty() || !std::filesystem::is_directory(directory, error)) return std::nullopt;
  return directory;
}

/// Path of a matrix of that folder, which must be there; notes that it is read.
inline std::string matrix_path(std::string const& name) {
  note_matrix_read(name);
  return (matrix_dir().value() / (name + ".mtx.gz")).string();
}

}  // namespace blockspan::test
