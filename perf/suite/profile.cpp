#include "suite/profile.hpp"

#include <filesystem>
#include <fstream>
#include <vector>

#include "common/machine/dispatch.hpp"

namespace blockspan::perf {

namespace {

namespace fs = std::filesystem;

constexpr double time_limit = 600;  ///< seconds: a profiler runs each kernel many times

/// The contenders of a case that are variants, which blockspan-spmm runs by name.
std::vector<std::string> variants_of(Case const& one) {
  std::vector<std::string> ids;
  for (std::string const& id : one.contenders)
    if (id != "auto" && id != "cusparse") ids.push_back(id);
  return ids;
}

/// The table that profile_ncu.py wrote.
void read_table(fs::path const& table, CaseResult& result) {
  std::ifstream file(table);
  for (apps::Json const& entry : apps::Json::parse(file)) {
    KernelResult kernel;
    kernel.id = entry["id"].get<std::string>();
    kernel.family = "blockspan";
    kernel.profile = entry["metrics"];
    result.kernels.push_back(kernel);
  }
}

}  // namespace

CaseResult measure_profile(Case const& one, std::string const& source, Scripts const& scripts) {
  CaseResult result;
  if (apps::backend_name<Exec>() != "cuda") {
    result.refused = "Nsight Compute needs CUDA, and this run is on ";
    result.refused += apps::backend_name<Exec>();
    return result;
  }
  fs::path const table = fs::path(scripts.out) / ".profile.json";
  fs::path const log = fs::path(scripts.out) / ".profile.txt";
  fs::path const programs = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::vector<std::string> arguments{(programs / "apps/blockspan-spmm/blockspan-spmm").string(),
                                     source, one.scalar, std::to_string(one.columns),
                                     table.string()};
  for (std::string const& id : variants_of(one)) arguments.push_back(id);
  ScriptOutcome const outcome =
      run_script(scripts, "profile_ncu.py", arguments, log.string(), time_limit);
  if (outcome.status == 0)
    read_table(table, result);
  else
    result.refused = outcome.last_line;
  fs::remove(table);
  fs::remove(log);
  return result;
}

}  // namespace blockspan::perf
