#include "suite/environment.hpp"

#include "common/files/report_parts.hpp"
#include "common/machine/dispatch.hpp"
#include "suite/clocks.hpp"
#include <sys/stat.h>

namespace blockspan::perf {

namespace {

using apps::Json;

#ifdef KOKKOS_ENABLE_CUDA
/// CUDA writes 13.0 as 13000.
std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void add_cuda(Json& versions) {
  int runtime = 0, driver = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) versions["cuda"] = dotted(runtime);
  if (cudaDriverGetVersion(&driver) == cudaSuccess) versions["cuda_driver"] = dotted(driver);
}
#else
void add_cuda(Json&) {}
#endif

/// When the program was linked: results of another one must not be mixed with its own, whether a
/// commit was named or not.
Json linked() {
  struct stat file {};
  if (stat("/proc/self/exe", &file) != 0) return {};
  return utc(file.st_mtime);
}

}  // namespace

Json begin_results(Exec const& exec, Study const& study, std::string const& commit, bool quick) {
  apps::Device const device = apps::describe(exec);
  Json versions = apps::to_json(apps::versions());
  add_cuda(versions);
  Json json{{"schema", "blockspan-perf/1"}};
  json.update(description(study));
  json.update({{"date", now_utc()},
               {"commit", commit.empty() ? Json() : Json(commit)},
               {"linked", linked()},
               {"backend", device.backend},
               {"device", apps::to_json(device)},
               {"versions", versions},
               {"quick", quick}});
  return json;
}

}  // namespace blockspan::perf
