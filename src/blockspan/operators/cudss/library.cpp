#include <cstdlib>
#include <filesystem>
#include <optional>

#include <blockspan/operators/cudss/library.hpp>
#include <blockspan/support/error.hpp>

#include <dlfcn.h>

namespace blockspan::operators::cudss {

namespace {

constexpr char const* where = "cuDSS";
constexpr char const* how_to_get_it =
    "install NVIDIA's wheel nvidia-cudss-cu13, 1.0 or newer, and name its libcudss.so.1 in "
    "BLOCKSPAN_CUDSS_LIBRARY";

void* open(std::string const& file) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

template <class Function>
void take(void* file, std::string const& name, char const* function, Function& target) {
  target = reinterpret_cast<Function>(dlsym(file, function));
  require(target != nullptr, where, name, " has no function ", function);
}

/// The layer for host threads beside the library, which its wheel has: the analysis is work of the
/// host. It stays loaded, since OpenMP's threads outlive an instance of cuDSS.
std::string threading_layer(Library const& library) {
  if (char const* const chosen = std::getenv("CUDSS_THREADING_LIB")) return chosen;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(library.cudssCreate), &info) == 0) return "";
  auto const file =
      std::filesystem::path(info.dli_fname).parent_path() / "libcudss_mtlayer_gomp.so.1";
  return open(file.string()) != nullptr ? file.string() : "";
}

Library functions_of(void* file, std::string const& name) {
  Library library{};
#define BLOCKSPAN_TAKE(function) take(file, name, #function, library.function)
  BLOCKSPAN_TAKE(cudssGetProperty);
  BLOCKSPAN_TAKE(cudssCreate);
  BLOCKSPAN_TAKE(cudssDestroy);
  BLOCKSPAN_TAKE(cudssSetStream);
  BLOCKSPAN_TAKE(cudssSetThreadingLayer);
  BLOCKSPAN_TAKE(cudssConfigCreate);
  BLOCKSPAN_TAKE(cudssConfigDestroy);
  BLOCKSPAN_TAKE(cudssConfigSet);
  BLOCKSPAN_TAKE(cudssDataCreate);
  BLOCKSPAN_TAKE(cudssDataDestroy);
  BLOCKSPAN_TAKE(cudssDataGet);
  BLOCKSPAN_TAKE(cudssMatrixCreateCsr);
  BLOCKSPAN_TAKE(cudssMatrixCreateDn);
  BLOCKSPAN_TAKE(cudssMatrixDestroy);
  BLOCKSPAN_TAKE(cudssExecute);
#undef BLOCKSPAN_TAKE
  return library;
}

}  // namespace

Library load(std::vector<std::string> const& files) {
  std::string reasons;
  for (std::string const& name : files) {
    void* const file = open(name);
    if (file == nullptr) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
      continue;
    }
    // the version first: an old one may lack functions
    int (*property)(int, int*) = nullptr;
    take(file, name, "cudssGetProperty", property);
    int numbers[3] = {};
    for (int part = 0; part < 3; ++part)
      require(property(part, &numbers[part]) == success, where, name, " does not say its version");
    std::string const version = std::to_string(numbers[0]) + "." + std::to_string(numbers[1]) +
                                "." + std::to_string(numbers[2]);
    require(numbers[0] >= 1, where, name, " is cuDSS ", version,
            ", which is too old: ", how_to_get_it);
    require(numbers[0] == 1, where, name, " is cuDSS ", version, ", and only 1.x is known");
    auto library = functions_of(file, name);
    library.version = version;
    library.threading = threading_layer(library);
    return library;
  }
  fail(where, "not found (", reasons, "): ", how_to_get_it);
}

std::vector<std::string> files_to_try() {
  char const* const file = std::getenv("BLOCKSPAN_CUDSS_LIBRARY");
  if (file != nullptr && *file != '\0') return {file};
  return {"libcudss.so.1", "libcudss.so.0"};
}

Found find() {
  static std::string why;
  static std::optional<Library> const library = []() -> std::optional<Library> {
    try {
      return load(files_to_try());
    } catch (Error const& error) {
      why = error.what();
      return {};
    }
  }();
  return {library ? &*library : nullptr, why};
}

}  // namespace blockspan::operators::cudss
