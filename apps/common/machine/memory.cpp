#include "common/machine/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

#include "common/files/words.hpp"
#include "common/machine/backends.hpp"
#include "common/machine/threads.hpp"
#include <sys/resource.h>
#include <unistd.h>

namespace blockspan::apps {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// A line "name: number kB" of /proc/meminfo or /proc/self/status, in bytes.
std::int64_t bytes_of(char const* file, std::string const& name, std::int64_t unknown) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    std::int64_t number = 0;
    if (word == name + ":" && lines >> number) return number * 1024;
    lines.ignore(unlimited, '\n');
  }
  return unknown;
}

/// What the control group, or one above it, leaves.
std::int64_t left_by_group() {
  std::int64_t left = unlimited;
  for (auto const& folder : control_groups("/sys/fs/cgroup", own_group())) {
    std::int64_t most = 0, used = 0;  // "max" is no limit
    std::ifstream limit(folder / "memory.max"), now(folder / "memory.current");
    if (limit >> most && now >> used) left = std::min(left, std::max<std::int64_t>(0, most - used));
  }
  return left;
}

template <class First, class... Others>
constexpr bool prefers_host(BackendList<First, Others...>) {
  return blockspan::support::runs_on_host_v<First>;
}

std::string in_gigabytes(std::int64_t bytes) {
  return formatted("%.3g GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

std::int64_t free_memory() {
  std::int64_t const machine = bytes_of("/proc/meminfo", "MemAvailable", unlimited),
                     swap = bytes_of("/proc/meminfo", "SwapFree", 0);
  std::int64_t left = machine == unlimited ? unlimited : machine + swap;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    left =
        std::min(left, std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) -
                                                     bytes_of("/proc/self/status", "VmSize", 0)));
  return std::min(left, left_by_group());
}

void require_room(std::string const& source, std::string const& backend, std::int64_t rows,
                  std::int64_t vectors, std::int64_t bytes, std::string const& remedy) {
  bool const host = backend == "auto" ? prefers_host(Backends()) : backend != "cuda";
  double const needed =
      static_cast<double>(rows) * static_cast<double>(vectors) * static_cast<double>(bytes);
  std::int64_t const left = free_memory();
  require(!host || needed <= static_cast<double>(left), source, "out of memory: ", grouped(vectors),
          " vectors of ", grouped(rows), " rows need ", formatted("%.3g GB", needed * 1e-9),
          ", and only ", in_gigabytes(left), " are free: ", remedy);
}

std::string out_of_memory() {
  return "out of memory: this process has " +
         in_gigabytes(bytes_of("/proc/self/status", "VmRSS", 0)) + ", and " +
         in_gigabytes(free_memory()) +
         " are free for more: a smaller problem, fewer columns, or ranks on several machines "
         "(mpirun) take less";
}

}  // namespace blockspan::apps
