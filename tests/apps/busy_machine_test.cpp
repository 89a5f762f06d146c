// Programs among others: a solve on two threads may take as much longer as its share of the
// machine is smaller, not a hundred times.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/backends.hpp"
#include "apps/process.hpp"
#include "apps/report_run.hpp"
#include "common/machine/threads.hpp"
#include "support/files.hpp"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace blockspan::test {
namespace {

/// A variable of the environment, set or taken away, while it lives.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) {
    if (char const* before = std::getenv(name)) before_ = before;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;

 private:
  char const* name_;
  std::optional<std::string> before_;
};

/// Processes that only compute, while it lives.
class BusyLoops {
 public:
  explicit BusyLoops(int number) {
    for (int i = 0; i < number; ++i) {
      pid_t const child = fork();
      if (child == 0) {
        alarm(60);  // even if nobody ends it
        for (unsigned volatile count = 0;;) count = count + 1;
      }
      children_.push_back(child);
    }
  }
  ~BusyLoops() {
    for (pid_t const child : children_) kill(child, SIGKILL);
    for (pid_t const child : children_) waitpid(child, nullptr, 0);
  }
  BusyLoops(BusyLoops const&) = delete;
  BusyLoops& operator=(BusyLoops const&) = delete;

 private:
  std::vector<pid_t> children_;
};

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// The times of `number` solves on two threads, in seconds, sorted.
std::vector<double> solves(int number) {
  std::vector<double> times;
  for (int i = 0; i < number; ++i) {
    auto const start = std::chrono::steady_clock::now();
    Outcome const outcome =
        run_app("blockspan-solve", {"laplace7:24", "--columns", "8", "--backend", "openmp",
                                    "--preconditioner", "jacobi", "--quiet"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    times.push_back(seconds.count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Its share with two loops on two CPUs is a half, with four a third; with the waits that
// libgomp has by itself it takes 7 and 30 to 160 times as long.
TEST(BusyMachine, ASolveBesideBusyLoopsTakesItsShareOfTime) {
  auto const names = backends();
  if (std::find(names.begin(), names.end(), "openmp") == names.end())
    GTEST_SKIP() << "this build has no backend openmp";
  if (usable_cpus() < 2) GTEST_SKIP() << "one CPU: two threads wait for each other anyway";
  Variable const threads("OMP_NUM_THREADS", "2"), policy("OMP_WAIT_POLICY", nullptr),
      spins("GOMP_SPINCOUNT", nullptr), blas("OPENBLAS_NUM_THREADS", nullptr),
      bind("OMP_PROC_BIND", nullptr);
  double const alone = solves(3).front();
  for (auto const& [loops, bound] : {std::pair(2, 8.0), std::pair(4, 15.0)}) {
    BusyLoops const others(loops);
    EXPECT_LT(solves(3)[1], bound * alone) << "with " << loops << " busy loops";
  }
}

/// The polynomial, multigrid after some iterations of it, and multigrid at once: what is counted
/// decides.
TEST(BusyMachine, AutomaticTakesTheSameWayBesideBusyLoops) {
  for (auto const& [app, spec] :
       {std::pair<std::string, std::string>("blockspan-solve", "laplace7:28"),
        {"blockspan-solve", "laplace5:200"},
        {"blockspan-eig", "laplace5:230"}}) {
    auto const way = [&, app = app, spec = spec] {
      auto const report = run_with_report(app, {spec, "--preconditioner", "automatic"}).report;
      return report["preconditioner"].dump() + report["iterations"].dump() + report["notes"].dump();
    };
    std::string const alone = way();
    BusyLoops const others(2);
    EXPECT_EQ(way(), alone) << spec;
  }
}

TEST(BusyMachine, QuotasOfControlGroupsAreRead) {
  TemporaryFolder const root;
  std::string const path = root.path().string();
  EXPECT_EQ(apps::granted_cpus(path, "/"), std::nullopt);
  std::filesystem::create_directories(root / "a/b");
  EXPECT_EQ(apps::granted_cpus(path, "/a/b"), std::nullopt);
  write_text(root / "a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(apps::granted_cpus(path, "/a/b"), std::nullopt);
  write_text(root / "a/cpu.max", "250000 100000\n");
  EXPECT_EQ(apps::granted_cpus(path, "/a/b"), 3);
  EXPECT_EQ(apps::granted_cpus(path, "/"), std::nullopt);
  write_text(root / "a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(apps::granted_cpus(path, "/a/b"), 1);
  write_text(root / "cpu.max", "200000 100000\n");
  EXPECT_EQ(apps::granted_cpus(path, "/a"), 2);
  EXPECT_EQ(apps::granted_cpus(path, "/elsewhere"), 2);
}

}  // namespace
}  // namespace blockspan::test
