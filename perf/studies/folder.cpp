#include "studies/folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <blockspan/support/error.hpp>

namespace blockspan::perf {

namespace fs = std::filesystem;

namespace {

/// The name of a matrix without its ending; empty where the file is none.
std::string matrix_name(std::string const& file) {
  for (std::string const ending : {".mtx.gz", ".mtx"})
    if (file.size() > ending.size() && file.ends_with(ending))
      return file.substr(0, file.size() - ending.size());
  return "";
}

}  // namespace

std::vector<std::string> matrices_in_folder(int most) {
  char const* const folder = std::getenv("BLOCKSPAN_MATRIX_DIR");
  if (folder == nullptr) return {};
  require(fs::is_directory(folder), "BLOCKSPAN_MATRIX_DIR", folder, " is not a directory");
  std::vector<std::pair<std::uintmax_t, std::string>> found;
  for (auto const& entry : fs::directory_iterator(folder))
    if (std::string const name = matrix_name(entry.path().filename().string()); !name.empty())
      found.emplace_back(entry.file_size(), name);
  std::sort(found.begin(), found.end());
  if (most >= 0 && found.size() > static_cast<std::size_t>(most))
    found.resize(static_cast<std::size_t>(most));
  std::vector<std::string> names;
  for (auto& [size, name] : found) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string scalar_of(Scope const& scope, std::string const& file) {
  bool const complex =
      scope.is_complex != nullptr && scope.is_complex(source_of(Case{.file = file}));
  return complex ? "c128" : "f64";
}

std::string folder_note() {
  return std::getenv("BLOCKSPAN_MATRIX_DIR") != nullptr
             ? ""
             : "BLOCKSPAN_MATRIX_DIR was not set: no real matrix was measured.";
}

}  // namespace blockspan::perf
