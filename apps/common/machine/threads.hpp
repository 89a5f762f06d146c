#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace blockspan::apps {

/// The first thing a program does: makes its threads share the machine with others. Starts the
/// program again, with its arguments, where that needs variables that its libraries read when they
/// are loaded; what the user has set stays as it is:
/// - GOMP_SPINCOUNT (unless OMP_WAIT_POLICY is set): how long threads of OpenMP spin for each other
///   before they sleep. Left to itself it is milliseconds at every barrier, which on a busy machine
///   are paid at every barrier (perf/notes/busy_machine.md);
/// - OPENBLAS_NUM_THREADS: one, which is what the library uses anyway;
/// - OMP_NUM_THREADS: no more threads than the control group grants CPUs, and of several ranks on a
///   machine each its share.
/// Does nothing for a run on a device: its libraries load slowly.
void share_machine(char** argv);

/// The group of this process in version 2 of control groups.
std::string own_group();

/// The folders of `group` and of those above it. `group`: as in /proc/self/cgroup ("/a/b"), `root`:
/// where version 2 of control groups is mounted.
std::vector<std::filesystem::path> control_groups(std::string const& root,
                                                  std::string const& group);

/// CPUs that a quota of the process's control group or one above it grants, rounded up; none: no
/// quota. root, group: as above.
std::optional<int> granted_cpus(std::string const& root, std::string const& group);

}  // namespace blockspan::apps
