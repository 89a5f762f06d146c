#include "common/machine/threads.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <blockspan/support/backend.hpp>

#include "common/machine/backends.hpp"
#include <sched.h>
#include <unistd.h>

namespace blockspan::apps {

namespace {

// Some 20 microseconds: longer than threads of a free machine wait for each other, short against
// what they lose to others on a busy one.
constexpr char const* spins = "1000";

/// Sets a variable of the environment that has no value; returns whether it had none.
bool set_default(char const* name, char const* value) {
  if (std::getenv(name) != nullptr) return false;
  return setenv(name, value, 0) == 0;
}

template <class First, class... Others>
constexpr bool prefers_device(BackendList<First, Others...>) {
  return !blockspan::support::runs_on_host_v<First>;
}

/// Whether the command line lets the run go to a device.
bool goes_to_device(char** argv) {
  if (!prefers_device(Backends())) return false;
  for (; *argv != nullptr; ++argv) {
    std::string_view const word(*argv);
    if (word.find("openmp") != word.npos || word.find("serial") != word.npos) return false;
  }
  return true;
}

/// CPUs that this process may run on.
int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Ranks of a launcher on this machine.
int ranks_on_machine() {
  for (char const* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (char const* const count = std::getenv(name)) return std::max(1, std::atoi(count));
  return 1;
}

bool limit_threads() {
  if (std::getenv("KOKKOS_NUM_THREADS") != nullptr) return false;
  int const allowed = allowed_cpus();
  int const all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  int const granted = granted_cpus("/sys/fs/cgroup", own_group()).value_or(all);
  int const share = ranks_on_machine() > 1 ? std::max(1, granted / ranks_on_machine()) : granted;
  return share < allowed && set_default("OMP_NUM_THREADS", std::to_string(share).c_str());
}

}  // namespace

std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  return "/";
}

std::vector<std::filesystem::path> control_groups(std::string const& root,
                                                  std::string const& group) {
  std::vector<std::filesystem::path> folders{root + group};
  while (folders.back().string().size() > root.size())
    folders.push_back(folders.back().parent_path());
  return folders;
}

std::optional<int> granted_cpus(std::string const& root, std::string const& group) {
  std::optional<int> least;
  for (auto const& folder : control_groups(root, group)) {
    double quota = 0, period = 0;  // microseconds; "max" is no quota
    if (std::ifstream file(folder / "cpu.max"); file >> quota >> period && period > 0) {
      int const cpus = std::max(1, static_cast<int>(std::ceil(quota / period)));
      least = std::min(least.value_or(cpus), cpus);
    }
  }
  return least;
}

void share_machine(char** argv) {
  if (goes_to_device(argv)) return;
  bool changed = std::getenv("OMP_WAIT_POLICY") == nullptr && set_default("GOMP_SPINCOUNT", spins);
  changed = set_default("OPENBLAS_NUM_THREADS", "1") || changed;
  changed = limit_threads() || changed;
  if (!changed) return;
  std::error_code error;
  auto const program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(program.c_str(), argv);  // comes back only where it failed: then as before
}

}  // namespace blockspan::apps
